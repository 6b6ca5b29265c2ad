// SPDX-License-Identifier: Apache-2.0
// Keeps an interrupted scan in a file.
#pragma once

#include <string>

#include "heatsink/base/result.h"

namespace heatsink::app {

// "" if the file does not exist: the scan begins. kOutOfRange above 1 MiB, kUnavailable if it
// cannot be read.
Result<std::string> read_resume_file(const std::string& path);

// Replaces the whole file atomically, so that an interruption leaves the old or the new one;
// removes it for "". Ignores a write error: the scan continues.
void write_resume_file(const std::string& path, const std::string& text);

}  // namespace heatsink::app
