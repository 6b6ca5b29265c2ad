// SPDX-License-Identifier: Apache-2.0
// The times of this room's tests, counted from one start.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::observe {

inline constexpr TimePoint kBegin{std::chrono::seconds(1000)};

inline TimePoint at(Nanos since_begin) { return kBegin + since_begin; }
inline TimePoint at(int ms) { return at(Millis(ms)); }

}  // namespace heatsink::observe
