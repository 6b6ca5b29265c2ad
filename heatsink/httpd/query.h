// SPDX-License-Identifier: Apache-2.0
// Parses the query of a URL: the part after the "?".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heatsink::httpd {

// The query of "/path?query"; "" if there is none.
std::string_view query_of(std::string_view target);

// The value of the first "name=value", with %XX and + decoded; a % without two digits stands for
// itself. Nothing: no such name. `name` is plain.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// The first name that is not one of `known`; nothing: all are.
std::optional<std::string> unknown_parameter(std::string_view query,
                                             std::span<const std::string> known);

}  // namespace heatsink::httpd
