// SPDX-License-Identifier: Apache-2.0
// The time of day, for people. How long a copy may be served is never measured with it.
#pragma once

#include <chrono>
#include <string>

namespace heatsink {

using WallTime = std::chrono::system_clock::time_point;

// "2026-11-21T12:00:00.123Z"
std::string iso_time(WallTime time);

}  // namespace heatsink
