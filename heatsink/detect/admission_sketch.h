// SPDX-License-Identifier: Apache-2.0
// How often an untracked key was seen, roughly and never too low: the evidence for its admission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// A count-min sketch with conservative update (Estan and Varghese, SIGCOMM 2002), blocked: all
// cells of a key lie in one cache line. Two laps (one window length each) are kept side by side, so
// that
//   * accesses in the window <= now + last, always (a sketch that is halved cannot say that), and
//   * now + last * (the part of the last lap still in the window) estimates them without bias.
// Not thread-safe. One or two cache misses per call; a lap's end clears half the cells, O(size).
class AdmissionSketch {
 public:
  // Upper bounds of a key's untracked accesses, the one just added included.
  struct Estimate {
    std::uint32_t now = 0;   // in this lap
    std::uint32_t last = 0;  // in the lap before
    std::uint32_t window =
        0;  // the estimate that admission goes by; UINT32_MAX once a cell is full
  };

  AdmissionSketch(std::size_t bytes, std::uint64_t seed);

  void move(const SlotClock::Move& move, const Position& position);

  Estimate add(KeyHash hash, std::uint32_t weight = 1) noexcept;

  // The key of this estimate stays untracked: remembered for absent_max().
  void stays_absent(const Estimate& estimate) noexcept;

  // A key that was tracked becomes untracked: its accesses in this lap and the last become the
  // sketch's to remember, together with what the sketch had before it was tracked.
  void take_back(KeyHash hash, std::uint64_t now, std::uint64_t last) noexcept;

  // No untracked key was accessed more often in the window.
  std::uint64_t absent_max() const { return absent_now_ + absent_last_; }

  // `estimate.last` as far as it is still in the window, in expectation.
  std::uint32_t still_in_window(std::uint32_t last) const {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(last) * last_weight_) >> 32);
  }

  std::size_t memory_bytes() const { return lines_.size() * sizeof(Line); }

 private:
  static constexpr std::size_t kRows = 4, kColumns = 4;
  static constexpr std::uint16_t kFull = UINT16_MAX;
  using Lap = std::uint16_t[kRows * kColumns];
  struct alignas(64) Line {
    Lap laps[2];
  };
  struct Place {
    std::size_t line;
    std::uint64_t columns;  // two bits for each row
  };

  Place place(KeyHash hash) const noexcept;
  void next_lap();

  std::vector<Line> lines_;
  std::uint64_t seed_;
  std::uint32_t lap_ = 0;          // which of the two is this lap's
  std::uint64_t last_weight_ = 0;  // the part of the last lap in the window, times 2^32
  std::uint64_t absent_now_ = 0;   // the largest bound of an untracked key, by lap
  std::uint64_t absent_last_ = 0;
};

}  // namespace heatsink::detect
