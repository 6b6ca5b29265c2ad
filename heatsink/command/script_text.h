// SPDX-License-Identifier: Apache-2.0
// Proves from a script's text that it cannot exchange databases (SWAPDB).
#pragma once

#include <string_view>

namespace heatsink::proxy {

// True only if each call of a command names the command as a plain string, and each of these is a
// reviewed one (reviewed_commands.h) other than SWAPDB. False for everything that could reach
// another command: redis.call(ARGV[1]), 'swap' .. 'db', local call = redis.call, loadstring(), _G.
// Words in comments and strings count as code, so it errs towards false. O(text); false beyond
// 64 KiB.
bool names_its_commands(std::string_view lua);

}  // namespace heatsink::proxy
