// SPDX-License-Identifier: Apache-2.0
// Lists what the machines for copies on nodes share in one worker.
#pragma once

#include <unordered_map>

#include "heatsink/base/random.h"
#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/spread/spread.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// References outlive it. One worker's thread.
struct SpreadParts {
  SharedState& shared;
  net::EventLoop& loop;
  copies::Counters& counters;
  Upstreams& upstreams;
  Random random;
  // Nodes that did not answer in time. Reads leave out their copies, and writes do not wait for
  // them, until then.
  std::unordered_map<const redis::UpstreamAddress*, TimePoint> suspects = {};

  static constexpr Nanos kLookAgain = Millis(1);  // for a connection that is being opened

  void count(copies::Count what) { counters.add(what); }
  void suspect(const redis::UpstreamAddress& server) {
    suspects[&server] = loop.now() + spread::kSuspicion;
  }
  bool is_suspect(const redis::UpstreamAddress& server) {
    if (suspects.empty()) return false;
    const auto found = suspects.find(&server);
    if (found == suspects.end()) return false;
    if (found->second > loop.now()) return true;
    suspects.erase(found);
    return false;
  }
  // Null: none is ready.
  Upstream* connection_to(std::uint16_t slot, resp::Protocol protocol) {
    return ready(upstreams.shared(protocol, Destination::of_slot(slot)).connection);
  }
  // Null, too, if the connection has left database 0 and cannot go back at once.
  static Upstream* ready(Upstream* connection) {
    return connection != nullptr && connection->knows_db(0) ? connection : nullptr;
  }
};

}  // namespace heatsink::proxy
