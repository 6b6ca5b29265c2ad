// SPDX-License-Identifier: Apache-2.0
// Inside observe: durations as numbers.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::observe {

inline double seconds_of(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace heatsink::observe
