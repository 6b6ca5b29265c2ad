// SPDX-License-Identifier: Apache-2.0
// The moment at which tests of this room begin: the beginning of a window.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::limit {

inline constexpr TimePoint kStart{std::chrono::hours(1000)};

}  // namespace heatsink::limit
