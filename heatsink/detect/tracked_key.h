// SPDX-License-Identifier: Apache-2.0
// Holds the data of one tracked key: its counts by slot, the bound of its earlier count, and its
// name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/name_pool.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {

enum NameState : std::uint8_t { kWhole = 0, kCut = 1, kTooLong = 2 };
inline constexpr std::uint32_t kNoAlarm = UINT32_MAX;

// The one cache line that most accesses touch. A count of UINT32_MAX is saturated: the truth may be
// higher.
struct alignas(64) Counts {
  std::uint64_t tag;               // the key's hash; 0: empty
  std::uint32_t count[kSlotsMax];  // the measure, by slot
  std::uint32_t turn;              // of the last roll: the counts are right for this turn
  std::uint32_t alarm;             // the count in this turn that makes the key urgent; or kNoAlarm
  std::uint32_t missed_now;        // upper bound of the uncounted: in the lap of the admission,
  std::uint32_t missed_last : 31;  // and in the lap before it; the maximum means no bound
  std::uint32_t has_parts : 1;     // details a, b, mean are not all 0
};
static_assert(sizeof(Counts) == 64);
inline constexpr std::uint32_t kMissedLastMax = UINT32_MAX >> 1;

// An access adds this beside the measure: two numbers kept by slot, and one that leaves the window
// with its mean. Together with the measure they give reads, writes, hits and bytes.
//   measure    a        b      mean
//   requests   writes   hits   bytes
//   writes     reads    hits   bytes
//   misses     writes   hits   bytes
//   bytes      writes   reads  hits
struct Parts {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint64_t mean = 0;
};

template <Dimension kDimension>
Parts parts_of(AccessLog::Amount amount) {
  if constexpr (kDimension == Dimension::kBytes)
    return {amount.writes(), 1 - amount.writes(), amount.hits()};
  if constexpr (kDimension == Dimension::kWrites)
    return {1 - amount.writes(), amount.hits(), amount.bytes()};
  return {amount.writes(), amount.hits(), amount.bytes()};
}

// True if parts_of() is all 0: the details need not be touched.
template <Dimension kDimension>
bool is_plain(AccessLog::Amount amount) {
  if constexpr (kDimension == Dimension::kBytes || kDimension == Dimension::kWrites) return false;
  return amount.none();
}

template <Dimension kDimension>
std::uint32_t weight_of(AccessLog::Amount amount) {
  if constexpr (kDimension == Dimension::kBytes) return static_cast<std::uint32_t>(amount.bytes());
  if constexpr (kDimension == Dimension::kWrites) return amount.writes();
  if constexpr (kDimension == Dimension::kMisses) return (amount.writes() | amount.hits()) == 0;
  return 1;
}

// The rest, which a read without further data does not touch when requests are counted.
struct Details {
  std::uint64_t mean;
  std::uint32_t b[kSlotsMax];
  std::uint32_t a[kSlotsMax];
  std::uint32_t db;
  std::uint32_t name_end;       // chain in the NamePool with the rest of the name, or kNone
  std::uint32_t admitted;       // turn of the admission
  std::uint16_t name_size;      // stored bytes of the name
  std::uint8_t name_state : 2;  // NameState
  std::uint8_t urgency : 6;     // number of announced levels (urgent count, 2x, 4x ...)
  std::uint8_t tallies;         // its row on the TallyBoard
  char name[48];                // the first bytes of the name
};

// Removes the slots that have left the window since the last roll. O(slots).
void roll(Counts& counts, Details& details, const Position& at, Dimension dimension);

inline std::uint64_t sum(const std::uint32_t (&by_slot)[kSlotsMax]) {
  return std::accumulate(std::begin(by_slot), std::end(by_slot), std::uint64_t{0});
}

// The count of the window at `at`, without rolling. O(slots).
inline std::uint64_t count_at(const Counts& counts, const Position& at) {
  std::uint64_t count = sum(counts.count);
  const std::uint32_t turns = std::min(at.turn - counts.turn, at.slots);
  for (std::uint32_t i = 0, cell = at.slot; i < turns; ++i, cell = at.before(cell)) {
    count -= counts.count[cell];
  }
  return count;
}

// REQUIRES for all below: rolled to the current turn.
inline std::uint64_t low(const Counts& counts) { return sum(counts.count); }

bool has_full_slot(const Counts& counts);  // O(slots)

// True if a count or the uncounted part is saturated, so that it has no bound. Each summary asks it
// of each key: no slot is saturated if `counted`, the sum of all slots, is small enough.
inline bool is_full(const Counts& counts, std::uint64_t counted) {
  return counts.missed_last == kMissedLastMax || counts.missed_now == UINT32_MAX ||
         (counted >= UINT32_MAX && has_full_slot(counts));
}

// The counted reads, writes, hits and bytes.
struct Accesses {
  std::uint64_t reads = 0, writes = 0, hits = 0, bytes = 0;
};
Accesses accesses(const Counts& counts, const Details& details, Dimension dimension);

// Upper bounds by lap, for AdmissionSketch::take_back().
struct ByLap {
  std::uint64_t now = 0;
  std::uint64_t last = 0;
};
ByLap by_lap(const Counts& counts, const Details& details, const Position& at);

// Sets the alarm of the current turn to the next level of urgency that is not announced yet. A
// level can be announced again after the window has fallen below half of it.
void arm(Counts& counts, Details& details, const Position& at, std::uint64_t urgent_count);

}  // namespace heatsink::detect
