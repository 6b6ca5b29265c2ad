// SPDX-License-Identifier: Apache-2.0
// Provides the time of day, for people. It never decides how long a copy may be served.
#pragma once

#include <chrono>
#include <string>

namespace heatsink {

using WallTime = std::chrono::system_clock::time_point;

// "2026-11-21T12:00:00.123Z"
std::string iso_time(WallTime time);

}  // namespace heatsink
