// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/tracked_key.h"

#include <iterator>

namespace heatsink::detect {
namespace {

// Larger than any window's count, and still safe to add.
constexpr std::uint64_t kUnbounded = UINT64_MAX / 4;

// A number that is not kept by slot: leaves with the mean of the window, which is exact if it is
// the same for every access.
std::uint64_t share_of(std::uint64_t number, std::uint64_t part, std::uint64_t whole) {
  if (part >= whole) return number;
  return static_cast<std::uint64_t>(static_cast<double>(number) * static_cast<double>(part) /
                                    static_cast<double>(whole));
}

// All accesses of a slot, derived from the stored numbers.
std::uint64_t accesses_in(const Counts& counts, const Details& details, std::uint32_t cell,
                          Dimension dimension) {
  const std::uint64_t count = counts.count[cell], a = details.a[cell], b = details.b[cell];
  switch (dimension) {
    case Dimension::kBytes:
      return a + b;
    case Dimension::kWrites:
      return count + a;
    case Dimension::kMisses:
      return count + a + b;
    case Dimension::kRequests:
      break;
  }
  return count;
}

std::uint64_t level(std::uint64_t urgent_count, unsigned doublings) {
  return urgent_count > (UINT64_MAX >> doublings) ? UINT64_MAX : urgent_count << doublings;
}

std::uint64_t bound_of(std::uint32_t count) { return count == UINT32_MAX ? kUnbounded : count; }

}  // namespace

namespace {

void roll_parts(const Counts& counts, Details& details, const Position& at, std::uint32_t turns,
                Dimension dimension) {
  std::uint64_t all = 0, left = 0;
  for (std::uint32_t cell = 0; cell < at.slots; ++cell) {
    all += accesses_in(counts, details, cell, dimension);
  }
  for (std::uint32_t i = 0, cell = at.slot; i < turns; ++i, cell = at.before(cell)) {
    left += accesses_in(counts, details, cell, dimension);
  }
  if (left != 0) details.mean -= share_of(details.mean, left, all);
  for (std::uint32_t i = 0, cell = at.slot; i < turns; ++i, cell = at.before(cell)) {
    details.a[cell] = details.b[cell] = 0;
  }
}

}  // namespace

// The details lie on other cache lines; skips them where they are 0.
void roll(Counts& counts, Details& details, const Position& at, Dimension dimension) {
  const std::uint32_t turns = std::min(at.turn - counts.turn, at.slots);
  if (turns == 0) return;
  if (counts.has_parts != 0) roll_parts(counts, details, at, turns, dimension);
  for (std::uint32_t i = 0, cell = at.slot; i < turns; ++i, cell = at.before(cell)) {
    counts.count[cell] = 0;
  }
  counts.turn = at.turn;
  if ((counts.missed_now | counts.missed_last) == 0) return;
  const std::uint32_t age = at.turn - details.admitted;
  if (age > at.slot) counts.missed_last = 0;  // another lap: the one before has left the window
  if (age >= at.slots) counts.missed_now = 0;
}

bool has_full_slot(const Counts& counts) {
  return std::find(std::begin(counts.count), std::end(counts.count), UINT32_MAX) !=
         std::end(counts.count);
}

Accesses accesses(const Counts& counts, const Details& details, Dimension dimension) {
  const std::uint64_t count = low(counts), a = sum(details.a), b = sum(details.b);
  switch (dimension) {
    case Dimension::kBytes:
      return {.reads = b, .writes = a, .hits = std::min(details.mean, b), .bytes = count};
    case Dimension::kWrites:
      return {.reads = a, .writes = count, .hits = b, .bytes = details.mean};
    case Dimension::kMisses:
      return {.reads = count + b, .writes = a, .hits = b, .bytes = details.mean};
    case Dimension::kRequests:
      break;
  }
  return {.reads = count - std::min(a, count), .writes = a, .hits = b, .bytes = details.mean};
}

ByLap by_lap(const Counts& counts, const Details& details, const Position& at) {
  ByLap laps;
  for (std::uint32_t cell = 0; cell < at.slots; ++cell) {
    (cell <= at.slot ? laps.now : laps.last) += bound_of(counts.count[cell]);
  }
  const bool admitted_in_this_lap = at.turn - details.admitted <= at.slot;
  (admitted_in_this_lap ? laps.now : laps.last) += bound_of(counts.missed_now);
  return {std::min(laps.now, kUnbounded), std::min(laps.last, kUnbounded)};
}

void arm(Counts& counts, Details& details, const Position& at, std::uint64_t urgent_count) {
  counts.alarm = kNoAlarm;
  if (urgent_count == UINT64_MAX) return;
  const std::uint64_t window = low(counts);
  while (details.urgency > 0 && window < level(urgent_count, details.urgency - 1U) / 2) {
    --details.urgency;
  }
  const std::uint64_t older = window - counts.count[at.slot];
  const std::uint64_t next = level(urgent_count, std::min<unsigned>(details.urgency, 63));
  const std::uint64_t value = next > older ? next - older : 1;
  if (value < kNoAlarm) counts.alarm = static_cast<std::uint32_t>(value);
}

}  // namespace heatsink::detect
