// SPDX-License-Identifier: Apache-2.0
// Moves a damaged file out of the way, so that a new one can begin.
#pragma once

#include <string>

#include "heatsink/base/result.h"

namespace heatsink::history {

// Renames `path` to path.damaged-1, and earlier ones to -2 and -3; the one that was -3 is removed,
// so that a disk that damages files is not filled by them. Their logs (-wal) go with them. Returns
// the new name.
Result<std::string> set_aside(const std::string& path);

}  // namespace heatsink::history
