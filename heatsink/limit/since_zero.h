// SPDX-License-Identifier: Apache-2.0
// A moment as a number that the windows divide into slots.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::limit {

// Times before the zero of the clock count as it.
inline std::uint64_t ns_since_zero(TimePoint time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

}  // namespace heatsink::limit
