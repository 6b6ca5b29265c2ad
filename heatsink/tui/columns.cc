// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/columns.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heatsink::tui {

std::optional<int> columns_of_environment() {
  const char* const set = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view text = set == nullptr ? "" : set;
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc() || end != text.data() + text.size() || columns <= 0) return std::nullopt;
  return std::clamp(columns, kColumnsMin, kColumnsMax);
}

}  // namespace heatsink::tui
