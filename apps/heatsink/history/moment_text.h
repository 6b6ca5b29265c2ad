// SPDX-License-Identifier: Apache-2.0
// Reads a moment as a person writes it, and writes it for one.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::app {

// "now"; "90m": so long ago; "15:00": the last time that it was 15:00; "yesterday 15:00";
// "2026-11-28 15:00"; "2026-11-28": its beginning; "2026-11-28T15:00:00Z". Without a Z it is the
// time of this machine (TZ).
Result<WallTime> parse_moment(std::string_view text, WallTime now);

// "2026-11-28 15:00:00", and only "15:00:00", in the time of this machine.
std::string day_text(WallTime time);
std::string clock_text(WallTime time);
std::string zone_text(WallTime time);  // "+0100": how far it is ahead of UTC

}  // namespace heatsink::app
