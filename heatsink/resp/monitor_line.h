// SPDX-License-Identifier: Apache-2.0
// Parses one line of MONITOR: 1339518083.107412 [0 127.0.0.1:60866] "get" "user:1"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// The fields before the arguments. Views of the line.
struct MonitorHead {
  std::int64_t at_ns = 0;  // the server's wall clock, since 1970
  std::uint32_t db = 0;
  // "127.0.0.1:60866", "[::1]:60866", "unix:/path"; "lua": a call inside a script.
  std::string_view client;
  std::string_view arguments;  // as in the line, quoted

  bool from_script() const { return client == "lua"; }
};

// `line`: without its end, and without the '+' that a connection adds. Nothing for other lines
// (such as "OK"). Never fails on any bytes; O(1), plus the client's address.
std::optional<MonitorHead> parse_monitor_head(std::string_view line);

// Unescapes the arguments into `text`; `args` are views of it. Replaces both. False if the quotes
// are wrong; both are then unusable. With `cut` the line was too long to be kept: leaves out the
// argument that is cut off, and returns those before it.
[[nodiscard]] bool split_monitor_arguments(std::string_view arguments, bool cut, std::string& text,
                                           std::vector<std::string_view>& args);

}  // namespace heatsink::resp
