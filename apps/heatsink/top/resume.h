// SPDX-License-Identifier: Apache-2.0
// The file in which an interrupted scan is kept.
#pragma once

#include <string>

#include "heatsink/base/result.h"

namespace heatsink::app {

// "" if there is no such file: the scan begins. kOutOfRange past 1 MiB, kUnavailable if it cannot
// be read.
Result<std::string> read_resume_file(const std::string& path);

// Replaces the file as a whole, so that an interruption leaves the old one or the new one; removes
// it for "". One that cannot be written is left: the scan itself does not suffer.
void write_resume_file(const std::string& path, const std::string& text);

}  // namespace heatsink::app
