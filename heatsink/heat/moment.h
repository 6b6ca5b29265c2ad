// SPDX-License-Identifier: Apache-2.0
// Holds what a node counted at one moment: its totals, and the busiest keys, templates, slots,
// servers and clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::heat {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// The values are those of the column `kind` in the history's file. Slots and nodes are of a
// cluster.
enum class Kind : std::uint8_t { kKey, kTemplate, kSlot, kNode, kClient };
inline constexpr std::size_t kKinds = 5;
// Of each kind; the busiest.
inline constexpr std::size_t kPerMoment[kKinds] = {64, 32, 16, 32, 16};
const char* to_string(Kind kind);  // "key", "template", "slot", "node", "client"

// A key, a template, a slot ("12182"), a node ("10.0.0.1:7000") or a client's address
// ("10.0.0.7"), as it may be shown.
struct Identity {
  static constexpr std::size_t kBytesMax = 256;  // of a name; a longer one is cut
  Kind kind = Kind::kKey;
  std::uint32_t db = 0;
  bool is_cut = false;  // `name` is only the beginning
  std::string name;     // any bytes
  friend bool operator==(const Identity&, const Identity&) = default;
};

// Per second, over the window of the count. A figure that is not known is NaN.
struct Totals {
  double requests = 0;  // of all keys, in the unit of the count (accesses, unless set otherwise)
  double reads = 0, writes = 0, hits = 0;  // accesses
  double commands = kNotKnown;             // that clients sent
  double server_commands = kNotKnown;      // that the servers got
  // Seconds: of the clients' commands, from the arrival until all of a batch is answered.
  double latency_p50 = kNotKnown, latency_p99 = kNotKnown;
  // That the proxy sent to the nodes of a cluster, one for each key: the sum of all slots.
  double node_commands = kNotKnown;
  double bytes = kNotKnown;  // of the replies to reads, and of the requests that write
  // CPU time of all servers: seconds per second. What they were spared is an estimate, and negative
  // if the proxy costs them more than it spares.
  double server_cpu = kNotKnown, server_cpu_spared = kNotKnown;
  double client_commands = kNotKnown;  // the sum of all clients
};

struct Item {
  Identity identity;
  double rate = 0;  // in the unit of the count: the proven rate; of the other kinds: commands
  double writes = 0, hits = 0, bytes = 0;  // of keys and templates
  double rate_high = kNotKnown;  // the highest possible rate; the history does not keep it
};

struct Moment {
  TimePoint at{};
  Nanos window{};  // that the rates were counted over
  Totals totals{};
  // The highest possible rate of each kind that `items` does not name.
  double unnamed_max[kKinds] = {kNotKnown, kNotKnown, kNotKnown, kNotKnown, kNotKnown};
  // At most kPerMoment of a kind, the busiest first; no identity comes twice.
  std::vector<Item> items{};
};

// The totals, keys and templates of a summary. `show`: the name as it may be shown; templates are
// left out if `hides_templates`. `bytes_of` a key or a template in the window; by default the bytes
// that were counted. Pure but for these functions. O(keys of the summary).
using Show = std::function<std::string(std::string_view name)>;
using BytesOf = std::function<double(Kind kind, const detect::KeyCount& key)>;
double counted_bytes(Kind kind, const detect::KeyCount& key);
Moment moment_of(const detect::Summary& summary, const Show& show, bool hides_templates,
                 const BytesOf& bytes_of = counted_bytes);

}  // namespace heatsink::heat
