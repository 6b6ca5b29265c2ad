// SPDX-License-Identifier: Apache-2.0
// The times of this room's tests: they are told from one start.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

inline constexpr TimePoint kStart{std::chrono::hours(1000)};

inline TimePoint at(Nanos since_start) { return kStart + since_start; }
inline TimePoint at(int ms) { return at(Millis(ms)); }

}  // namespace heatsink::proxy
