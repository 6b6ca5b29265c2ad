// SPDX-License-Identifier: Apache-2.0
// Reads the counters in the text of INFO.
#pragma once

#include <optional>
#include <string_view>

#include "heatsink/observe/monitor_pace.h"
#include "heatsink/redis/redis.h"

namespace heatsink::observe {

using redis::info_field;
using redis::info_number;
using redis::number_in;

// Counters since the server's start, from INFO stats and INFO cpu. The CPU time is the main
// thread's where the server reports it. `seconds` is not filled. Nothing if a field is missing.
std::optional<ServerWork> work_of(std::string_view stats, std::string_view cpu);

// Commands per second since the server's start, from INFO stats and INFO server. Nothing if a field
// is missing, or the server is too young for a mean.
std::optional<double> lifetime_rate_of(std::string_view stats, std::string_view server);

}  // namespace heatsink::observe
