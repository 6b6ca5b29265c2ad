// SPDX-License-Identifier: Apache-2.0
// Counts the recent reads of each key that has no copy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/hash.h"

namespace heatsink::admit {

// The memory that all threads share, each through a SightingCounter of its own. No lock. Fixed
// memory: 4 bytes per key. Concurrent calls for one set of 16 keys may lose a count, so that a copy
// comes one read later.
//
// A key is known by 16 bits of its hash within its set: about one key in 4000 shares its count with
// another one. Then a copy comes too early, which costs one fill.
class Sightings {
 public:
  static constexpr std::uint32_t kCountMax = 15;

  // `keys`: how many it remembers, rounded up to a power of 2, at least 1024.
  explicit Sightings(std::size_t keys);

  // The key has got a copy, or has been written.
  void forget(KeyHash key) noexcept;
  // forget() is about to be called.
  void prefetch(KeyHash key) const noexcept { __builtin_prefetch(&set_of(key), 1); }

  // False: no key was ever seen, so there is nothing to forget.
  bool has_counts() const noexcept { return has_counts_.load(std::memory_order_relaxed); }

  std::size_t keys() const { return sets_ * kWays; }

 private:
  friend class SightingCounter;
  static constexpr std::size_t kWays = 16;

  // An entry, from the high bits: 16 of the key's hash, 12 of the time, 4 of the count. A count of
  // 0: free.
  struct alignas(64) Set {
    std::array<std::atomic<std::uint32_t>, kWays> entries{};
  };

  Set& set_of(KeyHash key) const noexcept { return memory_[key.value & (sets_ - 1)]; }

  const std::size_t sets_;
  const std::uint64_t reads_per_tick_;
  const std::unique_ptr<Set[]> memory_;
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<bool> has_counts_{false};
};

// One thread's. A call touches one cache line of the Sightings, which must outlive it.
class SightingCounter {
 public:
  explicit SightingCounter(Sightings& all) : all_(all) {}

  // Counts one read, and returns the reads of this key so far, at most Sightings::kCountMax. A key
  // that was last seen more than `history` reads (of all keys and threads) ago counts from 1 again.
  // `history` is exact to 1/256 of Sightings::keys() and 16 reads per thread, and at most 8 times
  // keys(). A full set forgets the key that was seen longest ago.
  std::uint32_t see(KeyHash key, std::uint64_t history) noexcept;

 private:
  // So many reads are counted here before all threads learn of them: otherwise each read would
  // write to a cache line that all threads share.
  static constexpr std::uint64_t kBatch = 16;

  Sightings& all_;
  std::uint64_t untold_ = 0;
};

}  // namespace heatsink::admit
