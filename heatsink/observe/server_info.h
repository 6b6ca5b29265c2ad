// SPDX-License-Identifier: Apache-2.0
// Reads the text that INFO answers.
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

// Counters since the server's start, of INFO stats and INFO cpu: the main thread's CPU where the
// server tells it apart. `seconds` is not filled. Nothing if a field is missing.
std::optional<ServerWork> work_of(std::string_view stats, std::string_view cpu);

// "valkey 8.1.1", "redis 7.0.15"; "" if it does not say.
std::string server_version(std::string_view info);

}  // namespace heatsink::observe
