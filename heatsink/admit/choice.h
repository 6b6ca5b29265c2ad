// SPDX-License-Identifier: Apache-2.0
// Says which keys get a copy, and which copies make room for others.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heatsink::admit {

// How copies leave a full cache. Both orders need one flag per copy, which a hit sets. The queue
// holds the copies by age.
enum class EvictionOrder : std::uint8_t {
  // Evicts the oldest copy without the flag, and clears the flags that it passes (SIEVE: Zhang et
  // al., NSDI 2024). Best where popularity lasts.
  kSieve,
  // Evicts the oldest copy without the flag, and moves those that it passes to the young end
  // (CLOCK, or FIFO-Reinsertion). Close to LRU: best where popularity moves.
  kClock,
};

struct Choice {
  static constexpr std::uint32_t kNever = UINT32_MAX;
  static constexpr std::uint32_t kHistoryMax = 6;  // the longest history that the Chooser tries
  static constexpr std::uint32_t kAnyPace = 0;

  // A key gets a copy at this read since its last write, or since the history forgot it. kNever: no
  // copy would pay for its fill.
  std::uint32_t reads = 3;
  // The history forgets a key after this many reads of keys without a copy, in multiples of the
  // number of copies.
  std::uint32_t history = 2;
  EvictionOrder order = EvictionOrder::kClock;
  // The same as `reads` while the cache has room for another copy, if that is less: an early copy
  // takes no other copy's room.
  std::uint32_t reads_with_room = kNever;
  // The history also forgets a key after this many times the pause between the reads of a key whose
  // copies just pay (pay_pause()). kAnyPace: it does not.
  std::uint32_t pace = kAnyPace;

  std::uint32_t reads_if(bool has_room) const {
    return has_room && reads != kNever ? std::min(reads, reads_with_room) : reads;
  }

  friend bool operator==(const Choice&, const Choice&) = default;
};

}  // namespace heatsink::admit
