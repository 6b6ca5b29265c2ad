// SPDX-License-Identifier: Apache-2.0
// Times that tests of this room share.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::distributed {

inline constexpr TimePoint kNow{std::chrono::hours(1000)};

// A server that is slow may take so long; nothing waits for it in vain.
inline constexpr Nanos kPatience = std::chrono::seconds(60);

}  // namespace heatsink::distributed
