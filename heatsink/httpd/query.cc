// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/query.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace heatsink::httpd {
namespace {

// The byte of "%XX" at the front.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  unsigned byte = 0;
  const char* const end = text.data() + 3;
  if (std::from_chars(text.data() + 1, end, byte, 16).ptr != end) return std::nullopt;
  return static_cast<char>(byte);
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::optional<char> byte = escaped_byte(text.substr(i))) {
      out += *byte;
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

std::string_view query_of(std::string_view target) {
  const std::size_t at = target.find('?');
  return at == std::string_view::npos ? std::string_view() : target.substr(at + 1);
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return decoded(pair.substr(name.size() + 1));
  }
  return std::nullopt;
}

std::optional<std::string> unknown_parameter(std::string_view query,
                                             std::span<const std::string> known) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::string_view name = pair.substr(0, pair.find('='));
    if (!name.empty() && std::ranges::find(known, name) == known.end()) return std::string(name);
  }
  return std::nullopt;
}

}  // namespace heatsink::httpd
