// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/own_slots.h"

#include <algorithm>
#include <cstddef>

namespace heatsink::redis {
namespace {

// Removes the part before the separator, or all of `text`, and returns it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool is_own(std::string_view flags) {
  while (!flags.empty()) {
    if (take_until(flags, ',') == "myself") return true;
  }
  return false;
}

}  // namespace

// A line is "id address flags primary ping pong epoch link slot slot ...". The times of ping and
// pong change all the time, so they are left out.
std::string own_slots(std::string_view nodes) {
  while (!nodes.empty()) {
    std::string_view line = take_until(nodes, '\n');
    const std::string_view id = take_until(line, ' ');
    take_until(line, ' ');
    if (!is_own(take_until(line, ' '))) continue;
    for (int unused = 0; unused < 3; ++unused) take_until(line, ' ');
    const std::string_view epoch = take_until(line, ' ');
    take_until(line, ' ');
    return std::string(id) + ' ' + std::string(epoch) + ' ' + std::string(line);
  }
  return "";
}

}  // namespace heatsink::redis
