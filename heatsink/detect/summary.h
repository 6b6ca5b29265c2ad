// SPDX-License-Identifier: Apache-2.0
// Defines the counts of one shard, process or node in a window: the busiest keys with error bounds.
// They can be merged (merge.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/detect/measure.h"

namespace heatsink::detect {

// How often one command, or one client, occurs among a key's accesses (its reads + writes). The
// truth lies within [low, high]; all lows together are at most those accesses.
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
  // A digest of the whole name if it is truncated, the same in every process (wire.h). 0: not
  // known.
  std::uint64_t digest = 0;
  // The count in the measure's unit (accesses, bytes ...) in the window: the truth lies within
  // [low, high].
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  // Accesses counted since the key is tracked (lower bounds). For requests, reads + writes = low;
  // hits <= reads.
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  // Bytes of the values, where known. Slots leave with the mean size: exact while the size is
  // constant.
  std::uint64_t bytes = 0;
  // Busiest first, at most kTalliesMax; empty for keys that were not among the busiest.
  std::vector<Tally> commands;
  std::vector<Tally> clients;

  // A guess between the bounds, only for sorting what users see: the count missed before the
  // admission is about a quarter of its bound (docs/design/detect.md). Verdicts do not use it.
  std::uint64_t likely() const { return low + (high - low) / 4; }

  friend bool operator==(const KeyCount&, const KeyCount&) = default;
};
inline constexpr std::size_t kKeyBytesMax =
    1024;  // longer names are tracked by hash and shown truncated

// All accesses by the template of their key (key_template.h) and database, whether the key is
// listed or not. A template is a KeyCount whose name is the pattern; its unit is accesses.
struct TemplateCounts {
  std::uint64_t absent_max = 0;  // the highest possible count of an unlisted template
  std::vector<KeyCount> list;    // by high, descending

  friend bool operator==(const TemplateCounts&, const TemplateCounts&) = default;
};
inline constexpr std::size_t kTemplatesMax = 128;  // of a summary

struct Summary {
  TimePoint at{};
  Nanos window{};  // the configured length
  Dimension dimension = Dimension::kRequests;
  Nanos covered{};  // how much of it has been seen: all but the rest of the current slot, less
                    // just after the start
  bool covers_window = false;  // a whole window has been covered
  std::uint64_t requests = 0;  // totals over the window, tracked or not; exact
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t absent_max = 0;  // the highest possible count of an unlisted key
  // Traffic was so fast that keys which are not among the busiest were sampled: their bounds hold
  // with the confidence stated in docs/design/detect.md, instead of always.
  bool sampled = false;
  std::vector<KeyCount> keys;               // by high, descending
  std::optional<TemplateCounts> templates;  // nothing: not counted, or it came from another node

  Measure measure() const { return {window, dimension}; }
  std::uint64_t total() const;  // of all keys, in the dimension's unit
  // The divisor that turns counts into rates per second: the time covered, but the window until a
  // whole window has been covered, so that a start is not extrapolated.
  double seconds() const;

  friend bool operator==(const Summary&, const Summary&) = default;
};

}  // namespace heatsink::detect
