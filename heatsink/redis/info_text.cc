// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/info_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heatsink::redis {

std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find('\n', at), info.size());
    std::string_view line = info.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  return {};
}

std::optional<double> info_number(std::string_view info, std::string_view name) {
  return number_in(info_field(info, name));
}

std::optional<std::uint64_t> info_epoch(std::string_view info, std::string_view name) {
  const std::string_view text = info_field(info, name);
  std::uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return epoch;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace heatsink::redis
