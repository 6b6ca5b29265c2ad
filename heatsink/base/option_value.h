// SPDX-License-Identifier: Apache-2.0
// Converts the value of an option to text and back, and checks its bounds. Internal to option*.cc.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/option.h"

namespace heatsink {

// Parses `text` into the row's target. The error's message is only the fix ("write 1h or less"):
// the caller adds name, bounds and default.
Status assign_option(const OptionRow& row, std::string_view text);

std::string option_text(const OptionRow& row);  // in the form that assign_option() accepts
std::string option_bounds_text(const OptionRow& row);
bool option_is_text(const OptionTarget& target);
bool option_within_bounds(const OptionRow& row);

}  // namespace heatsink
