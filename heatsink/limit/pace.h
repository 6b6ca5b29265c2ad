// SPDX-License-Identifier: Apache-2.0
// Turns a rate into a clock: how much has become free since time began, in integers and without
// drift.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/limit/level.h"
#include "heatsink/limit/rate.h"

namespace heatsink::limit {

// Counts in units. One counted thing is a power of two of units, so that a unit lasts 2 to 4 ns. So
// the state of a bucket is one integer, whether it fills at 1/day or 10^8/s, and is exact to the
// time of one unit. Tried and rejected: adding up rounded intervals would be off by 5 % at 3 x
// 10^8/s, and a floating-point number cannot hold a year in nanoseconds.
//
// Immutable; all calls are pure. at() is one multiplication.
class Pace {
 public:
  // REQUIRES check_rate(rate).
  explicit Pace(const Rate& rate);

  std::uint64_t units_each() const { return units_each_; }

  // Units since the clock's zero; earlier times count as zero. Below 2^61 for the next 70 years.
  std::uint64_t at(TimePoint time) const noexcept {
    const auto ns = time.time_since_epoch().count();
    const std::uint64_t passed = ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
    return static_cast<std::uint64_t>((static_cast<Wide>(passed) * scale_) >> 64U);
  }

  // The valid levels of a bucket with this `capacity` (not in units).
  Span span(TimePoint now, Nanos standstill, std::uint64_t capacity) const noexcept {
    const std::uint64_t floor = at(now);
    const std::uint64_t units = capacity * units_each_;
    return {.floor = floor, .top = floor + units, .absurd = at(now + standstill) + units};
  }

  // The time in which at least `units` become free: at(t + time_for(u)) >= at(t) + u. Too long by
  // at most one unit and a 2^-49th part. Nanos::max() if it does not fit.
  Nanos time_for(std::uint64_t units) const noexcept;

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t units_each_;
  std::uint64_t scale_;  // units per nanosecond, x 2^64
  double ns_per_unit_;
};

}  // namespace heatsink::limit
