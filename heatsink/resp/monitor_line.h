// SPDX-License-Identifier: Apache-2.0
// One line of MONITOR: 1339518083.107412 [0 127.0.0.1:60866] "get" "user:1"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// What stands before the arguments. Views of the line.
struct MonitorHead {
  std::int64_t at_ns = 0;  // the server's wall clock since 1970
  std::uint32_t db = 0;
  // "127.0.0.1:60866", "[::1]:60866", "unix:/path"; "lua": a script's own call.
  std::string_view client;
  std::string_view arguments;  // as they stand in the line, in quotes

  bool from_script() const { return client == "lua"; }
};

// `line` without its end, and without the '+' that it has on a connection. Nothing if it is no line
// of MONITOR ("OK" is none either). Never fails on any bytes; O(1) but for the client's address.
std::optional<MonitorHead> parse_monitor_head(std::string_view line);

// Unescapes the arguments into `text`; `args` are views of it. Both are replaced. False if the
// quotes are wrong, and then both hold nothing of use. With `cut` the line ended too early (it was
// too long to be kept): the argument that was cut off is left out, and those before it are given.
[[nodiscard]] bool split_monitor_arguments(std::string_view arguments, bool cut, std::string& text,
                                           std::vector<std::string_view>& args);

}  // namespace heatsink::resp
