// SPDX-License-Identifier: Apache-2.0
// Estimates how many different keys were accessed within a sliding window, in fixed memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007): for all hashes with the same beginning it
// keeps the longest run of zeros; linear counting where there are few keys. Standard error 3.3 %. A
// plain value.
class DistinctSketch {
 public:
  static constexpr unsigned kIndexBits = 10;
  static constexpr std::size_t kRegisters = std::size_t{1} << kIndexBits;

  void add(std::uint64_t hash) noexcept {
    // The bit that is set ends each run; further zeros would belong to the index.
    const auto run = static_cast<std::uint8_t>(
        1 + std::countl_zero((hash << kIndexBits) | (std::uint64_t{1} << (kIndexBits - 1))));
    std::uint8_t& longest = registers_[hash >> (64 - kIndexBits)];
    if (run > longest) longest = run;
  }
  // Afterwards covers the keys of both.
  void merge(const DistinctSketch& other) noexcept;
  double estimate() const;

 private:
  std::array<std::uint8_t, kRegisters> registers_{};
};

// One sketch per slot of the window, 1 KiB each. Not thread-safe. Adding a key once in each slot of
// its accesses is enough; repeated additions change nothing.
class DistinctKeys {
 public:
  // Empties the slots that begin again.
  void move(const SlotClock::Move& move, const Position& position) noexcept;
  void add(std::uint64_t hash, std::uint32_t slot) noexcept { sketches_[slot].add(hash); }

  // The keys accessed in all slots. The caller merges the shards of one traffic.
  DistinctSketch window() const noexcept;

 private:
  std::array<DistinctSketch, kSlotsMax> sketches_{};
};

}  // namespace heatsink::detect
