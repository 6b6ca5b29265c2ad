// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/tracked_key.h"

#include <algorithm>
#include <numeric>

namespace heatsink::detect {
namespace {

// Bytes are not kept by slot: those that leave are taken at the mean size of the window, which is
// exact as long as the value keeps its size.
std::uint64_t share_of(std::uint64_t bytes, std::uint64_t part, std::uint64_t whole) {
  if (part >= whole) return bytes;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                                    static_cast<double>(whole));
}

// What is known of untracked accesses ends when the window has left them behind.
void forget_missed(Counts& counts, const Position& at) {
  const std::uint32_t age = at.turn - counts.admitted;
  if (age > at.slot) counts.missed_last = 0;  // another lap: the one before is out of the window
  if (age >= at.slots) counts.missed_now = 0;
}

std::uint64_t level(std::uint64_t urgent_count, unsigned doublings) {
  return urgent_count > (UINT64_MAX >> doublings) ? UINT64_MAX : urgent_count << doublings;
}

}  // namespace

std::uint64_t sum(const std::uint32_t (&by_slot)[kSlotsMax]) {
  return std::accumulate(std::begin(by_slot), std::end(by_slot), std::uint64_t{0});
}

void roll(Counts& counts, Details& details, const Position& at) {
  const std::uint32_t turns = std::min(at.turn - counts.turn, at.slots);
  if (turns == 0) return;
  const std::uint64_t before = low(counts);
  std::uint64_t left = 0;
  for (std::uint32_t i = 0, cell = at.slot; i < turns; ++i, cell = at.before(cell)) {
    left += counts.count[cell];
    counts.count[cell] = details.hits[cell] = details.writes[cell] = 0;
  }
  if (left != 0) details.bytes -= share_of(details.bytes, left, before);
  counts.turn = at.turn;
  if ((counts.missed_now | counts.missed_last) != 0) forget_missed(counts, at);
}

ByLap by_lap(const Counts& counts, const Position& at) {
  ByLap laps;
  for (std::uint32_t cell = 0; cell < at.slots; ++cell) {
    (cell <= at.slot ? laps.now : laps.last) += counts.count[cell];
  }
  const bool admitted_in_this_lap = at.turn - counts.admitted <= at.slot;
  (admitted_in_this_lap ? laps.now : laps.last) += counts.missed_now;
  return laps;
}

void arm(Counts& counts, const Position& at, std::uint64_t urgent_count) {
  counts.alarm = 0;
  if (urgent_count == UINT64_MAX) return;
  const std::uint64_t window = low(counts);
  while (counts.urgency > 0 && window < level(urgent_count, counts.urgency - 1U) / 2) {
    --counts.urgency;
  }
  const std::uint64_t older = window - counts.count[at.slot];
  const std::uint64_t next = level(urgent_count, std::min<unsigned>(counts.urgency, 63));
  const std::uint64_t value = next > older ? next - older : 1;
  if (value <= UINT32_MAX) counts.alarm = static_cast<std::uint32_t>(value);
}

}  // namespace heatsink::detect
