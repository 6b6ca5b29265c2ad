// SPDX-License-Identifier: Apache-2.0
// Parses the text of INFO and CLUSTER INFO.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heatsink::redis {

// The value of "name:value"; "" if there is none. O(text).
std::string_view info_field(std::string_view info, std::string_view name);
std::optional<double> info_number(std::string_view info, std::string_view name);
// An epoch, which is a whole number of 64 bits; nothing if the value is not one.
std::optional<std::uint64_t> info_epoch(std::string_view info, std::string_view name);

// A finite number that is all of `text`.
std::optional<double> number_in(std::string_view text);

}  // namespace heatsink::redis
