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

// Proves from a script's text that it cannot exchange databases (SWAPDB). True only if each call of
// a command names the command as a plain string, and each of these is a reviewed one
// other than SWAPDB. False for everything that could reach another command:
// redis.call(ARGV[1]), 'swap' .. 'db', local call = redis.call, loadstring(), _G. Words in comments
// and strings count as code, so it errs towards false. O(text); false beyond 64 KiB.
bool names_its_commands(std::string_view lua);

}  // namespace heatsink::proxy
