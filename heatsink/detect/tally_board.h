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

// Has a row for each of up to 255 keys. A row holds the most frequent commands and clients, by
// Space-Saving (Metwally, Agrawal and El Abbadi, ICDT 2005), for the current and the last half
// window: so all of its counts lie within the window, and they cover at least the window's last
// half. Not thread-safe; only tell() allocates after construction.
class TallyBoard {
 public:
  static constexpr std::uint8_t kNoRow = 0;
  static constexpr std::size_t kRowsMax = 255;

  explicit TallyBoard(std::size_t bytes);

  // Clears the half windows that have left.
  void move(const SlotClock::Move& move, const Position& position);

  // Adds one access of a sample that takes one in `factor`.
  void add(std::uint8_t row, const AccessLog::Entry& entry, std::uint32_t factor) noexcept;

  // Starts a round of assignments: rows without keep() since begin() become free.
  void begin() noexcept;
  void keep(std::uint8_t row) noexcept { rows_[row - 1U].kept = true; }
  // Assigns a row to `owner`; kNoRow: none is free. Sets `*before` to its former owner, or kNobody.
  std::uint8_t take(std::uint32_t owner, std::uint32_t* before) noexcept;
  void release(std::uint8_t row) noexcept;

  // Fills the commands and clients of a key whose reads and writes are set. `accesses`: an upper
  // bound of its accesses in the window.
  void tell(std::uint8_t row, const TallyNames& names, std::uint64_t accesses, KeyCount& out) const;

  std::size_t size() const { return rows_.size(); }
  std::size_t memory_bytes() const { return rows_.size() * sizeof(Row); }

  static constexpr std::uint32_t kNobody = UINT32_MAX;

 private:
  struct Cell {
    std::uint32_t number = 0;
    std::uint32_t count = 0;  // upper bound, in accesses
    std::uint32_t error = 0;  // part of it that may belong to other numbers
  };
  struct List {
    Cell cells[kTalliesMax];

    void add(std::uint32_t number, std::uint32_t factor) noexcept;
    const Cell* find(std::uint32_t number) const;
    std::uint32_t least() const;  // upper bound for a number that is not listed
  };
  struct Half {
    List commands;
    List clients;
    std::uint32_t seen = 0;  // sum of all factors; saturates
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
  std::uint32_t half_ = 0;             // index of the current one
  std::uint32_t half_number_ = 0;      // number of the current one since the start
  std::uint32_t factors_[2] = {1, 1};  // the largest factor, by half
};

}  // namespace heatsink::detect
