// SPDX-License-Identifier: Apache-2.0
// Counts the commands and clients of a KeyTable's busiest keys, from a sample of the accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heatsink/detect/access.h"
#include "heatsink/detect/access_log.h"
#include "heatsink/detect/key_rows.h"
#include "heatsink/detect/sampling.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/tally_board.h"

namespace heatsink::detect {

// Up to some rate it takes each access of a tracked key, above it one in `factor`. It counts down
// to the next one, because that is cheaper than a random number for each access. Not thread-safe;
// only tell() allocates after construction.
class KeyTallies {
 public:
  // `names` outlives it; null: nothing is counted, and `bytes` must be 0.
  KeyTallies(const TallyNames* names, std::size_t bytes)
      : names_(names), board_(bytes), left_(names == nullptr ? UINT64_MAX : 1) {}

  // Adapts the sample to the rate of the accesses, which `sampler` knows.
  void follow(Sampler& sampler) noexcept;
  void move(const SlotClock::Move& move, const Position& position) { board_.move(move, position); }

  // Whether one of the next `accesses` of tracked keys is in the sample. If not, they can be
  // counted at once.
  bool takes_one_of(std::uint64_t accesses) const { return accesses >= left_; }
  // Counts accesses that are not in the sample. REQUIRES: !takes_one_of(accesses).
  void pass(std::uint64_t accesses) { left_ -= accesses; }
  // Counts one access. True: it is in the sample, and add() must follow.
  bool takes() { return --left_ == 0; }
  void add(const Details& details, const AccessLog::Entry& entry, Sampler& sampler) noexcept;

  // Gives the board's rows to the busiest keys, which come first. A key that already has a row
  // keeps its counts.
  void give_rows(KeyRows& rows, std::span<const std::uint32_t> busiest) noexcept;
  void release(const Details& details) noexcept {
    if (details.tallies != TallyBoard::kNoRow) board_.release(details.tallies);
  }

  // Fills the commands and clients of a key whose other numbers are set; nothing if it has no row.
  void tell(const Details& details, Dimension dimension, KeyCount& out) const;

  std::size_t memory_bytes() const { return board_.memory_bytes(); }

 private:
  const TallyNames* names_;
  TallyBoard board_;
  std::uint32_t factor_ = 1;  // accesses represented by each sampled one
  std::uint64_t left_;        // accesses of tracked keys until the next sampled one
};

}  // namespace heatsink::detect
