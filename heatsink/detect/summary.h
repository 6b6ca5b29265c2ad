// SPDX-License-Identifier: Apache-2.0
// What one shard, process or node saw in a window: the busiest keys with error bounds. Mergeable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::detect {

struct KeyCount {
  KeyHash hash;
  std::string key;  // at most kKeyBytesMax bytes of it
  std::uint32_t db = 0;
  bool key_truncated = false;
  // Accesses in the window: the truth lies within [low, high].
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  // Seen since the key is tracked (lower bounds): reads + writes = low; hits <= reads.
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  // Of the values, where known. Slots leave at the mean size: exact while the value keeps its size.
  std::uint64_t bytes = 0;
};
inline constexpr std::size_t kKeyBytesMax =
    1024;  // longer names are tracked by hash and shown truncated

struct Summary {
  TimePoint at{};
  Nanos window{};              // the configured length
  Nanos covered{};             // how much of it has been seen (shorter just after the start)
  std::uint64_t requests = 0;  // totals over the window, tracked or not; exact
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t absent_max = 0;  // a key that is not listed was accessed at most this often
  std::vector<KeyCount> keys;    // by high, falling
};

// The union of what several shards saw, in any order with the same result: counts add; a key absent
// from a shard adds that shard's absent_max to its high. Keeps at most `keys_max` keys.
Summary merge(std::span<const Summary> shards, std::size_t keys_max);

}  // namespace heatsink::detect
