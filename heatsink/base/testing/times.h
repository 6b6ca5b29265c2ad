// SPDX-License-Identifier: Apache-2.0
// Moments for tests, counted from one start.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink {

inline constexpr TimePoint kStart{std::chrono::hours(1000)};

inline TimePoint at(Nanos since_start) { return kStart + since_start; }
inline TimePoint at(int ms) { return at(Millis(ms)); }

}  // namespace heatsink
