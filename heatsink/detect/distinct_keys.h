// SPDX-License-Identifier: Apache-2.0
// About how many different keys were accessed within a sliding window, in fixed memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/hash.h"
#include "heatsink/detect/access_log.h"
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

// A sketch for each slot of the window: 1 KiB each. Belongs to one thread; time only has to be
// roughly right, and a step back stands still.
class DistinctKeys {
 public:
  DistinctKeys(Nanos window, std::uint32_t slots) : clock_(window, slots) {}

  void add(KeyHash hash, TimePoint now) noexcept {
    turn(now);
    sketches_[clock_.position().slot].add(hash.value);
  }
  // All of a log, which are credited to the slot of `now`.
  void add(const AccessLog& log, TimePoint now) noexcept;

  // What was accessed in the window as it stands at `now`; shards of one traffic are merged by the
  // caller.
  DistinctSketch window(TimePoint now) noexcept;

 private:
  void turn(TimePoint now) noexcept;

  SlotClock clock_;
  std::array<DistinctSketch, kSlotsMax> sketches_{};
};

}  // namespace heatsink::detect
