// SPDX-License-Identifier: Apache-2.0
// Parses the text of INFO.
#pragma once

#include <optional>
#include <string_view>

namespace heatsink::redis {

// The value of "name:value"; "" if there is none. O(text).
std::string_view info_field(std::string_view info, std::string_view name);
std::optional<double> info_number(std::string_view info, std::string_view name);

// A finite number that is all of `text`.
std::optional<double> number_in(std::string_view text);

}  // namespace heatsink::redis
