// SPDX-License-Identifier: Apache-2.0
// Reads files of the kernel (/proc, /sys), which do not report their size.
#pragma once

#include <string>

namespace heatsink {

// The whole text; empty if the file cannot be read. Not for files of users: it has no limit.
std::string file_text(const std::string& path);

}  // namespace heatsink
