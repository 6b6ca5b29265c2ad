// SPDX-License-Identifier: Apache-2.0
// Tells how wide output may be that goes to a file or a pipe.
#pragma once

#include <optional>

namespace heatsink::tui {

inline constexpr int kColumnsMin = 40, kColumnsMax = 1000;

// The variable COLUMNS, within kColumnsMin and kColumnsMax; nothing: not set, or not a number.
std::optional<int> columns_of_environment();

}  // namespace heatsink::tui
