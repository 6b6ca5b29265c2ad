// SPDX-License-Identifier: Apache-2.0
// Converts a time to a number, which the windows divide into slots.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::limit {

// Times before the clock's zero count as zero.
inline std::uint64_t ns_since_zero(TimePoint time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

}  // namespace heatsink::limit
