// SPDX-License-Identifier: Apache-2.0
// What the table keeps of one key: its accesses by slot, what it may have had before, and its name.
#pragma once

#include <cstdint>

#include "heatsink/detect/name_pool.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

// Accesses by slot, saturating at 2^32 - 1 per slot. The one line that a read touches.
struct alignas(64) Counts {
  std::uint32_t count[kSlotsMax];
  std::uint32_t turn;      // of the last roll: count[] is right for this turn
  std::uint32_t alarm;     // the value of this turn's count that makes the key urgent; 0: none does
  std::uint32_t admitted;  // turn of the admission
  std::uint32_t missed_now;   // upper bound of the untracked accesses: in the lap of the admission,
  std::uint32_t missed_last;  // and in the lap before it
  std::uint16_t name_size;    // bytes of the name that are kept
  std::uint8_t urgency;       // how many levels (urgent count, 2x, 4x ...) have been announced
  std::uint8_t name_state;    // NameState
};
static_assert(sizeof(Counts) == 64);

enum NameState : std::uint8_t { kWhole = 0, kCut = 1, kTooLong = 2 };

// What a plain read of a known key does not touch.
struct Details {
  std::uint32_t hits[kSlotsMax];
  std::uint32_t writes[kSlotsMax];
  std::uint64_t bytes;
  std::uint32_t db;
  std::uint32_t name_end;  // chain in the NamePool with what follows the prefix, or kNone
  char name[48];           // the first bytes of the name
};

// Turns out the slots that have left the window since the last roll. O(slots).
void roll(Counts& counts, Details& details, const Position& at);

// REQUIRES for all below: rolled to the current turn.
std::uint64_t sum(const std::uint32_t (&by_slot)[kSlotsMax]);
inline std::uint64_t low(const Counts& counts) { return sum(counts.count); }
inline std::uint64_t high(const Counts& counts) {
  return low(counts) + counts.missed_now + counts.missed_last;
}

// Upper bounds of all accesses by lap, as AdmissionSketch::take_back() wants them.
struct ByLap {
  std::uint64_t now = 0;
  std::uint64_t last = 0;
};
ByLap by_lap(const Counts& counts, const Position& at);

// Sets the alarm for the current turn: the next level of urgency that is not announced yet. A level
// is forgotten (and may be announced again) when the window falls below half of it.
void arm(Counts& counts, const Position& at, std::uint64_t urgent_count);

}  // namespace heatsink::detect
