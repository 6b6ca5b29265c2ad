// SPDX-License-Identifier: Apache-2.0
// Formats one event of the log as a line.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/base/log.h"
#include "heatsink/base/wall_time.h"

namespace heatsink {

// `message` is one line of valid UTF-8 without control characters, as one_line() makes it.
struct LogLine {
  LogLevel level;
  WallTime at;
  std::string message;
};

// One line with its line feed. kText: "2026-11-21T12:00:00.123Z warning the message". kJson: an
// object with the members time, level and message, in this order.
std::string to_text(const LogLine& line, LogFormat format);

}  // namespace heatsink
