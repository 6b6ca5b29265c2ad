// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/missing_key_reply.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace heatsink::proxy {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::int64_t length_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The cursor of an empty SCAN is "0", and the type of a missing key is "none".
bool says_nothing(std::string_view text) { return text.empty() || text == "0" || text == "none"; }

// Judges one line without its end. A string's bytes are in the next line.
bool line_says_nothing(std::string_view line) {
  const std::string_view rest = line.substr(1);
  switch (line.front()) {
    case '*':
    case '%':
    case '~':
    case '_':
    case '$':
      return true;
    case ':':
      return length_in(rest) <= 0;
    case '#':
      return rest == "f";
    case '+':
    case ',':
      return says_nothing(rest);
    default:
      return false;
  }
}

}  // namespace

bool may_be_of_missing_key(std::string_view reply) {
  while (!reply.empty()) {
    const std::size_t end = reply.find(kLineEnd);
    const std::string_view line = reply.substr(0, end);
    if (line.empty() || end == std::string_view::npos || !line_says_nothing(line)) return false;
    reply.remove_prefix(end + kLineEnd.size());
    const std::int64_t bytes = line.front() == '$' ? length_in(line.substr(1)) : -1;
    if (bytes < 0) continue;
    const auto size = static_cast<std::size_t>(bytes);
    if (size > reply.size() || !says_nothing(reply.substr(0, size))) return false;
    reply.remove_prefix(std::min(reply.size(), size + kLineEnd.size()));
  }
  return true;
}

}  // namespace heatsink::proxy
