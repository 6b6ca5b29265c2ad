// SPDX-License-Identifier: Apache-2.0
// Moments, counted from the zero of the clock, and a bound of staleness. For tests.
#pragma once

#include "heatsink/base/clock.h"

namespace heatsink::cache {

inline TimePoint at(Nanos since_zero) { return TimePoint(since_zero); }
inline TimePoint at(int ms) { return TimePoint(Millis(ms)); }

inline constexpr Nanos kMaxStaleness = Millis(1000);

}  // namespace heatsink::cache
