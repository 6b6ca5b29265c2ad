// SPDX-License-Identifier: Apache-2.0
// Inside capture: the table of followed connections, with its limits.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/capture/connection.h"

namespace heatsink::capture {

// The two ends of a connection, the lesser first, so that both directions have the same key.
struct ConnectionKey {
  Endpoint low;
  Endpoint high;
  static ConnectionKey of(const Segment& segment);
  friend bool operator==(const ConnectionKey&, const ConnectionKey&) = default;
};
static_assert(sizeof(ConnectionKey) == 2 * sizeof(Endpoint), "it is hashed as bytes");

struct ConnectionLimits {
  std::size_t connections_max = 0;
  Bytes memory_max;
  Nanos idle_max{};
};

// Not thread-safe. Closed connections stay until they are idle, so that a retransmission does not
// look like a new connection. When the table is full it evicts the connection that was silent
// longest. O(1) per call.
class ConnectionTable {
 public:
  ConnectionTable(const ConnectionLimits& limits, std::uint64_t seed, CaptureCounters& counters);

  // Null if there is none. The result is valid until the next erase(), enforce_limits() or
  // advance().
  Connection* find(const ConnectionKey& key);
  // REQUIRES that the table has no connection with this key.
  Connection& add(const ConnectionKey& key, MatcherContext& context, const Patience& patience,
                  Endpoint client, Endpoint server, bool strict);
  void erase(const ConnectionKey& key);  // reports the commands that wait there

  // Enforces the limits. Call it after each segment that the last found or added connection took.
  void enforce_limits();
  // Gives up bytes and replies that were awaited too long, and drops idle connections.
  // O(connections with gaps).
  void advance(std::int64_t now_ns);
  void finish();
  // Applies to all connections. O(connections).
  void watch(ReplyWatch watch);

 private:
  struct Row {
    ConnectionKey key;
    Connection connection;
    std::size_t bytes = 0;  // as counted in bytes_
    bool waits = false;     // the connection is in waiting_
    bool is_open = true;    // as counted in connections_now
  };
  using Rows = std::list<Row>;
  struct Hash {
    std::uint64_t seed;
    std::size_t operator()(const ConnectionKey& key) const {
      return XXH3_64bits_withSeed(&key, sizeof key, seed);
    }
  };

  void forget(Rows::iterator row);
  void forget_oldest();
  void account(Row& row);

  ConnectionLimits limits_;
  CaptureCounters& counters_;
  Rows rows_;  // by time of the last segment, the latest at the end
  boost::unordered_flat_map<ConnectionKey, Rows::iterator, Hash> index_;
  std::vector<Row*> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace heatsink::capture
