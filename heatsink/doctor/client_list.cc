// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/client_list.h"

#include <algorithm>

namespace heatsink::doctor {
namespace {

// The value of " field=value " in a line.
std::string_view value_of(std::string_view line, std::string_view field) {
  for (std::size_t at = line.find(field); at != std::string_view::npos;
       at = line.find(field, at + 1)) {
    if (at != 0 && line[at - 1] != ' ') continue;
    line.remove_prefix(at + field.size());
    return line.substr(0, line.find(' '));
  }
  return "";
}

}  // namespace

Trackers trackers_in(std::string_view list) {
  Trackers out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find('\n'), list.size());
    const std::string_view line = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (value_of(line, "flags=").find('t') == std::string_view::npos) continue;
    const std::string_view name = value_of(line, "name=");
    if (name == "heatsink-doctor") continue;
    ++(name.starts_with("heatsink-") ? out.of_heatsink : out.others);
  }
  return out;
}

}  // namespace heatsink::doctor
