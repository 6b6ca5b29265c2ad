// SPDX-License-Identifier: Apache-2.0
// Parses the text of INFO.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/observe/monitor_pace.h"

namespace heatsink::observe {

// The value of "name:value"; "" if there is none. O(text).
std::string_view info_field(std::string_view info, std::string_view name);
std::optional<double> info_number(std::string_view info, std::string_view name);

// A finite number that is all of `text`.
std::optional<double> number_in(std::string_view text);

// Counters since the server's start, from INFO stats and INFO cpu. The CPU time is the main
// thread's where the server reports it. `seconds` is not filled. Nothing if a field is missing.
std::optional<ServerWork> work_of(std::string_view stats, std::string_view cpu);

// "valkey 8.1.1", "redis 7.0.15"; "" if the text has no version.
std::string server_version(std::string_view info);

}  // namespace heatsink::observe
