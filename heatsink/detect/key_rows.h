// SPDX-License-Identifier: Apache-2.0
// Holds the rows of a KeyTable: the data of each tracked key, for one position of the window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {

// The number of a row is the number of its key; the KeyTable decides which key has which row. The
// window moves at once for all rows, but a row forgets the slots that have left only in roll(),
// which comes before each use of the row. Not thread-safe; nothing is allocated after construction.
class KeyRows {
 public:
  static constexpr std::size_t kRowBytes = sizeof(Counts) + sizeof(Details);

  KeyRows(std::size_t size, Dimension dimension)
      : counts_(size), details_(size), dimension_(dimension) {}

  std::size_t size() const { return counts_.size(); }
  const Position& at() const { return at_; }
  Dimension dimension() const { return dimension_; }

  // All rows by number. Counts::tag is 0 in a row without a key.
  Counts* counts() { return counts_.data(); }
  const Counts& counts(std::uint32_t key) const { return counts_[key]; }
  Counts& counts(std::uint32_t key) { return counts_[key]; }
  const Details* details() const { return details_.data(); }
  const Details& details(std::uint32_t key) const { return details_[key]; }
  Details& details(std::uint32_t key) { return details_[key]; }

  // Moves the window. `urgent_count` as below.
  void move(const Position& at, std::uint64_t urgent_count) {
    at_ = at;
    set_urgent_count(urgent_count);
  }
  // The count in the window that makes a key urgent; UINT64_MAX: none. A row takes another one when
  // it rolls.
  void set_urgent_count(std::uint64_t count) { urgent_count_ = std::max<std::uint64_t>(count, 1); }

  // Gives the row to another key, without accesses and without a name.
  void begin(std::uint32_t key, const AccessLog::Entry& entry) noexcept;

  // Removes the slots that have left the window. O(1) if the row was rolled in this turn.
  void roll(std::uint32_t key) noexcept {
    if (counts_[key].turn != at_.turn) roll_now(key);
  }

  // For a key whose count in this slot has reached its alarm: sets the next alarm. False: there was
  // none, and the count is just saturated. REQUIRES: rolled.
  bool ring(std::uint32_t key) noexcept;

 private:
  void roll_now(std::uint32_t key) noexcept;

  // Apart from the details, so that most accesses touch few cache lines and pages.
  std::vector<Counts> counts_;
  std::vector<Details> details_;
  Dimension dimension_;
  std::uint64_t urgent_count_ = UINT64_MAX;  // in this slot
  Position at_;
};

}  // namespace heatsink::detect
