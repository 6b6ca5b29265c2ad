// SPDX-License-Identifier: Apache-2.0
// Lists the commands whose connection state has been reviewed, up to Redis 8.10 and Valkey 9.2.
#pragma once

#include <string_view>

namespace heatsink::proxy {

// The command leaves nothing behind on its connection, or route_of() has a row for it: all commands
// of Redis 7.0, and newer ones without keys that were reviewed one by one. Its flags say the rest.
// `command`: in lower case, "container|name". A hash and a linear search: keep the result.
bool is_reviewed(std::string_view command);

// A command of a module whose commands were reviewed: search, JSON, time series, probabilistic
// types. They neither keep state on the connection nor exchange databases.
bool is_of_reviewed_module(std::string_view command);

}  // namespace heatsink::proxy
