// SPDX-License-Identifier: Apache-2.0
// Parses the query of a URL: what follows the "?".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heatsink::httpd {

// Of "/path?query"; "": there is none.
std::string_view query_of(std::string_view target);

// The value of the first "name=value", with %XX and + as bytes; a % that no two digits follow
// stands for itself. Nothing: no such name. `name` is plain.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace heatsink::httpd
