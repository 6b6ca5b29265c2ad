// SPDX-License-Identifier: Apache-2.0
// Counts which commands and clients access the busiest keys: short lists, fed by a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

class TallyNames;

// A place for each of up to 255 keys. A place holds the commands and the clients that were seen
// most, by Space-Saving (Metwally, Agrawal and El Abbadi, ICDT 2005), for the current and the last
// half window: so all of it lies within the window, and the last half of it at least is covered.
// Not thread-safe; nothing is allocated after construction but by tell().
class TallyBoard {
 public:
  static constexpr std::uint8_t kNoRow = 0;
  static constexpr std::size_t kRowsMax = 255;

  explicit TallyBoard(std::size_t bytes);

  // Half windows that end are forgotten.
  void move(const SlotClock::Move& move, const Position& position);

  // One access of a sample that takes one of `factor`.
  void add(std::uint8_t row, const AccessLog::Entry& entry, std::uint32_t factor) noexcept;

  // For a round of giving away places: those not asked for since begin() are free to take.
  void begin() noexcept;
  void keep(std::uint8_t row) noexcept { rows_[row - 1U].kept = true; }
  // The place is the owner's until taken from it; kNoRow: none is free. `*before`: whose it was.
  std::uint8_t take(std::uint32_t owner, std::uint32_t* before) noexcept;
  void release(std::uint8_t row) noexcept;

  // Fills commands and clients of a key whose reads and writes are there; `accesses`: how many it
  // had in the window at most.
  void tell(std::uint8_t row, const TallyNames& names, std::uint64_t accesses, KeyCount& out) const;

  std::size_t size() const { return rows_.size(); }
  std::size_t memory_bytes() const { return rows_.size() * sizeof(Row); }

  static constexpr std::uint32_t kNobody = UINT32_MAX;

 private:
  struct Cell {
    std::uint32_t number = 0;
    std::uint32_t count = 0;  // the factors of its accesses, at most
    std::uint32_t error = 0;  // of it, what may be another number's
  };
  struct List {
    Cell cells[kTalliesMax];

    void add(std::uint32_t number, std::uint32_t factor) noexcept;
    const Cell* find(std::uint32_t number) const;
    std::uint32_t least() const;  // what a number that is not listed may have
  };
  struct Half {
    List commands;
    List clients;
    std::uint32_t seen = 0;  // the factors of all; what does not fit was not seen
  };
  struct Row {
    Half halves[2];
    std::uint32_t owner = kNobody;
    bool kept = false;
  };

  std::vector<Tally> told(const Row& row, List Half::*list, std::uint64_t accesses,
                          std::uint64_t counted, const auto& name) const;

  std::vector<Row> rows_;
  std::size_t hand_ = 0;
  std::uint32_t half_ = 0;             // which of the two is the current one
  std::uint32_t half_number_ = 0;      // of the current one, counted in half windows
  std::uint32_t factors_[2] = {1, 1};  // the largest, by half
};

}  // namespace heatsink::detect
