// SPDX-License-Identifier: Apache-2.0
// The value of an option as text, both ways, and its bounds. Internal to option*.cc.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/option.h"

namespace heatsink {

// Reads `text` into the row's target. The error's message is only the fix in words ("write 1h or
// less"): the caller puts name, bounds and default around it.
Status assign_option(const OptionRow& row, std::string_view text);

std::string option_text(const OptionTarget& target);  // as assign_option() takes it
std::string option_bounds_text(const OptionRow& row);
bool option_is_text(const OptionTarget& target);
bool option_within_bounds(const OptionRow& row);

}  // namespace heatsink
