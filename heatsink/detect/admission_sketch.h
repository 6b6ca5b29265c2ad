// SPDX-License-Identifier: Apache-2.0
// Estimates how often an untracked key was seen, never too low, to decide about its admission.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// A count-min sketch with conservative update (Estan and Varghese, SIGCOMM 2002), blocked: all
// cells of a key lie in one cache line. It keeps two laps (one window length each) side by side, so
// that
//   * the count in the window <= now + last, always (a sketch that is halved cannot promise that),
//   and
//   * now + last * (the part of the last lap still in the window) estimates it without bias.
// Cells count in units of 2^unit_bits, rounded up; the interface counts in single accesses or
// bytes. Not thread-safe. One cache miss per call; the end of a lap clears half of the cells,
// O(size).
class AdmissionSketch {
 public:
  // Upper bounds of the key's untracked count, including the access just added.
  struct Estimate {
    std::uint64_t now = 0;     // in this lap
    std::uint64_t last = 0;    // in the lap before
    std::uint64_t window = 0;  // the estimate that decides about admission
    bool full = false;         // a cell is saturated: the true count may be far higher
  };

  AdmissionSketch(std::size_t bytes, std::uint64_t seed, unsigned unit_bits = 0);

  void move(const SlotClock::Move& move, const Position& position);

  // The position of a key's cells, valid for this sketch only.
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

  // The values of a key's cells, in units.
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
  // Estimate::window of a reading that is not full.
  std::uint64_t window(Reading reading) const noexcept {
    return (reading.now + still_in_window(reading.last)) << unit_bits_;
  }

  // The key of this estimate stays untracked; absent_max() takes it into account.
  void stays_absent(const Estimate& estimate) noexcept { stays_absent(estimate.now); }
  void stays_absent(Reading reading) noexcept {
    stays_absent(std::uint64_t{reading.now} << unit_bits_);  // REQUIRES: !reading.full()
  }

  // Returns the counts of an evicted key to the sketch: what it had in this lap and the last one is
  // added to what the sketch had counted before its admission.
  void take_back(std::uint64_t key, std::uint64_t now, std::uint64_t last) noexcept;

  // No untracked key had more accesses in the window.
  std::uint64_t absent_max() const { return absent_now_ + absent_last_; }

  // The expected part of `last` that is still in the window.
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
  // The cells of a key in a lap: one of eight in each of two rows. (Tried and rejected: four rows
  // of four. They are as good for few keys, and far too high when a line holds dozens:
  // docs/design/detect.md.)
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
  std::uint64_t size_;  // number of lines
  std::uint64_t seed_;
  unsigned unit_bits_;
  std::uint32_t lap_ = 0;          // index of the current lap
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
