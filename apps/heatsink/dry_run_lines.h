// SPDX-License-Identifier: Apache-2.0
// Reads the answer of /api/rules/dry-run for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::app {

// "cart:* would have matched at least 2 keys with 1.2k of 10.0k requests (12.0 %) ...", and a line
// for each of the busiest of these keys.
Result<std::vector<std::string>> dry_run_lines(std::string_view json);

}  // namespace heatsink::app
