// SPDX-License-Identifier: Apache-2.0
// Estimates how many different keys were accessed within a sliding window, in fixed memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007), with linear counting where few keys are:
// of all hashes that begin alike the longest run of zeros that was seen. Standard error 3.3 %.
// A plain value.
class DistinctSketch {
 public:
  static constexpr unsigned kIndexBits = 10;
  static constexpr std::size_t kRegisters = std::size_t{1} << kIndexBits;

  void add(std::uint64_t hash) noexcept {
    // The bit set ends every run; zeros after it would come from the index.
    const auto run = static_cast<std::uint8_t>(
        1 + std::countl_zero((hash << kIndexBits) | (std::uint64_t{1} << (kIndexBits - 1))));
    std::uint8_t& longest = registers_[hash >> (64 - kIndexBits)];
    if (run > longest) longest = run;
  }
  // Of what either has seen.
  void merge(const DistinctSketch& other) noexcept;
  double estimate() const;

 private:
  std::array<std::uint8_t, kRegisters> registers_{};
};

// A sketch for each slot of the window: 1 KiB each. Not thread-safe. That a key is added once in
// each slot in which it was accessed is enough: further times change nothing.
class DistinctKeys {
 public:
  // Slots that begin anew are empty.
  void move(const SlotClock::Move& move, const Position& position) noexcept;
  void add(std::uint64_t hash, std::uint32_t slot) noexcept { sketches_[slot].add(hash); }

  // What was accessed in all slots; shards of one traffic are merged by the caller.
  DistinctSketch window() const noexcept;

 private:
  std::array<DistinctSketch, kSlotsMax> sketches_{};
};

}  // namespace heatsink::detect
