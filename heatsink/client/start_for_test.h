// SPDX-License-Identifier: Apache-2.0
// The moment at which tests of this room begin.
#pragma once

#include <chrono>

#include "heatsink/base/clock.h"

namespace heatsink::client {

inline constexpr TimePoint kStart{std::chrono::seconds(100)};

}  // namespace heatsink::client
