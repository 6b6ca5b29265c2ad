// SPDX-License-Identifier: Apache-2.0
// Estimates how often an untracked key was seen, never too low: the evidence for its admission.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// A count-min sketch with conservative update (Estan and Varghese, SIGCOMM 2002), blocked: all
// cells of a key lie in one cache line. Two laps (one window length each) are kept side by side, so
// that
//   * what is in the window <= now + last, always (a sketch that is halved cannot say that), and
//   * now + last * (the part of the last lap still in the window) estimates it without bias.
// Cells count in units of 2^unit_bits, rounded up; all figures outside are in single ones. Not
// thread-safe. One cache miss per call; a lap's end clears half the cells, O(size).
class AdmissionSketch {
 public:
  // Upper bounds of what a key had untracked, the access just added included.
  struct Estimate {
    std::uint64_t now = 0;     // in this lap
    std::uint64_t last = 0;    // in the lap before
    std::uint64_t window = 0;  // the estimate that admission goes by
    bool full = false;         // a cell has come to its end: the true count may be far higher
  };

  AdmissionSketch(std::size_t bytes, std::uint64_t seed, unsigned unit_bits = 0);

  void move(const SlotClock::Move& move, const Position& position);

  // Where the cells of a key are; for this sketch alone.
  struct CellIndex {
    std::uint32_t line;
    std::uint32_t columns;  // three bits for each row
  };
  CellIndex locate(std::uint64_t key) const noexcept {
    constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25ULL;  // spreads the bits; any odd number does
    const std::uint64_t mixed = (key ^ seed_) * kOdd;
    return {static_cast<std::uint32_t>(((mixed >> 32) * size_) >> 32),
            static_cast<std::uint32_t>(mixed >> 8) & 0x3F};
  }
  CellIndex prefetch(std::uint64_t key) const noexcept {
    const CellIndex at = locate(key);
    __builtin_prefetch(&lines_[at.line], 1);
    return at;
  }

  // What the cells of a key say, in units.
  struct Reading {
    std::uint16_t now;
    std::uint16_t last;
    bool full() const { return now == kFull || last == kFull; }
  };
  Reading add(CellIndex at, std::uint64_t weight) noexcept;
  Estimate estimate(Reading reading, std::uint64_t weight) const noexcept;
  Estimate add(std::uint64_t key, std::uint64_t weight) noexcept {
    return estimate(add(locate(key), weight), weight);
  }
  // Estimate.window of a reading that is not full.
  std::uint64_t window(Reading reading) const noexcept {
    return (reading.now + still_in_window(reading.last)) << unit_bits_;
  }

  // The key of this estimate stays untracked: remembered for absent_max().
  void stays_absent(const Estimate& estimate) noexcept { stays_absent(estimate.now); }
  void stays_absent(Reading reading) noexcept {
    stays_absent(std::uint64_t{reading.now} << unit_bits_);  // REQUIRES: !reading.full()
  }

  // A key that was tracked becomes untracked: what it had in this lap and the last becomes the
  // sketch's to remember, together with what the sketch had before it was tracked.
  void take_back(std::uint64_t key, std::uint64_t now, std::uint64_t last) noexcept;

  // No untracked key had more in the window.
  std::uint64_t absent_max() const { return absent_now_ + absent_last_; }

  // `last` as far as it is still in the window, in expectation.
  std::uint64_t still_in_window(std::uint32_t last) const {
    return (std::uint64_t{last} * last_weight_) >> 32;
  }

  std::size_t memory_bytes() const { return lines_.size() * sizeof(Line); }

 private:
  static constexpr std::size_t kRows = 2, kColumns = 8;
  static constexpr std::uint16_t kFull = UINT16_MAX;
  using Lap = std::uint16_t[kRows * kColumns];
  struct alignas(64) Line {
    Lap laps[2];
  };
  // The cells of a key in a lap: one of eight in each of two rows. (Four rows of four say the same
  // of a few keys, and far too much when a line holds dozens: docs/design/detect.md.)
  struct Cells {
    Cells(std::uint16_t* lap, std::uint32_t columns)
        : a(lap[columns & 7]), b(lap[kColumns + ((columns >> 3) & 7)]) {}

    std::uint16_t least() const { return std::min(a, b); }

    void raise(std::uint16_t to) const {
      const std::uint16_t old_a = a, old_b = b;
      a = std::max(old_a, to);
      b = std::max(old_b, to);
    }

    std::uint16_t &a, &b;
  };

  std::uint16_t units(std::uint64_t weight) const noexcept;
  void stays_absent(std::uint64_t now) noexcept {
    if (now > absent_now_) absent_now_ = now;
  }
  void next_lap();

  std::vector<Line> lines_;
  std::uint64_t size_;  // of it
  std::uint64_t seed_;
  unsigned unit_bits_;
  std::uint32_t lap_ = 0;          // which of the two is this lap's
  std::uint64_t last_weight_ = 0;  // the part of the last lap in the window, times 2^32
  std::uint64_t absent_now_ = 0;   // the largest bound of an untracked key, by lap
  std::uint64_t absent_last_ = 0;
};

inline std::uint16_t AdmissionSketch::units(std::uint64_t weight) const noexcept {
  const std::uint64_t rest = (std::uint64_t{1} << unit_bits_) - 1;
  const std::uint64_t count = (weight >> unit_bits_) + ((weight & rest) != 0 ? 1 : 0);
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(count, kFull));
}

inline AdmissionSketch::Reading AdmissionSketch::add(CellIndex at, std::uint64_t weight) noexcept {
  Line& line = lines_[at.line];
  const Cells cells(line.laps[lap_], at.columns);
  const std::uint16_t last = Cells(line.laps[lap_ ^ 1], at.columns).least();
  const auto now = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(std::uint32_t{cells.least()} + units(weight), kFull));
  cells.raise(now);
  return {now, last};
}

}  // namespace heatsink::detect
