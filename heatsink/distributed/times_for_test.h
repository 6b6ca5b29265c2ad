// SPDX-License-Identifier: Apache-2.0
// Times that tests of this room share.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::distributed {

inline constexpr TimePoint kNow{std::chrono::hours(1000)};

// A slow server may take this long; no test waits for it in vain.
inline constexpr Nanos kPatience = std::chrono::seconds(60);

}  // namespace heatsink::distributed
