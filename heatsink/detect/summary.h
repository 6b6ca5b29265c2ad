// SPDX-License-Identifier: Apache-2.0
// What one shard, process or node saw in a window: the busiest keys with error bounds. Mergeable
// (merge.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/detect/measure.h"

namespace heatsink::detect {

// How often one command, or one client, is among the accesses seen of a key (its reads + writes):
// the truth lies within [low, high], and the lows of all add up to no more than those accesses.
struct Tally {
  std::string name;  // "GET"; "10.0.0.7"
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Tally&, const Tally&) = default;
};
inline constexpr std::size_t kTalliesMax = 8;       // per key, of commands and of clients
inline constexpr std::size_t kTallyBytesMax = 255;  // of a name

struct KeyCount {
  KeyHash hash;
  std::string key;  // at most kKeyBytesMax bytes of it
  std::uint32_t db = 0;
  bool key_truncated = false;
  // Of the whole name where it is truncated: the same in every process (wire.h). 0: not known.
  std::uint64_t digest = 0;
  // What is measured (accesses, bytes ...), in the window: the truth lies within [low, high].
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  // Accesses seen since the key is tracked (lower bounds): of requests, reads + writes = low;
  // hits <= reads.
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  // Of the values, where known. Slots leave at the mean size: exact while the value keeps its size.
  std::uint64_t bytes = 0;
  // Busiest first, at most kTalliesMax; empty for keys that were not among the busiest.
  std::vector<Tally> commands;
  std::vector<Tally> clients;

  // The best guess between the bounds, to order a list for people by: what was missed before the
  // admission is in truth about a quarter of its bound (docs/design/detect.md). Nothing is judged
  // by it.
  std::uint64_t likely() const { return low + (high - low) / 4; }

  friend bool operator==(const KeyCount&, const KeyCount&) = default;
};
inline constexpr std::size_t kKeyBytesMax =
    1024;  // longer names are tracked by hash and shown truncated

struct Summary {
  TimePoint at{};
  Nanos window{};  // the configured length
  Dimension dimension = Dimension::kRequests;
  Nanos covered{};       // how much of it has been seen: all but the rest of the current slot, less
                         // just after the start
  bool settled = false;  // a whole window has been watched
  std::uint64_t requests = 0;  // totals over the window, tracked or not; exact
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t absent_max = 0;  // a key that is not listed was accessed at most this often
  // Traffic was so fast that keys which are not among the busiest were counted by sample: their
  // bounds hold with the confidence stated in docs/design/detect.md, instead of always.
  bool sampled = false;
  std::vector<KeyCount> keys;  // by high, falling

  std::uint64_t total() const;  // of all keys, in the dimension's unit
  // What counts are divided by to get rates per second: the time covered, but before a whole window
  // has been watched the window: nothing is extrapolated after a start.
  double seconds() const;

  friend bool operator==(const Summary&, const Summary&) = default;
};

}  // namespace heatsink::detect
