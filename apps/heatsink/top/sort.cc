// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/sort.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr std::array<std::string_view, 7> kNames{"rate",   "bytes", "share", "reads",
                                                 "writes", "hits",  "misses"};

double value_of(const KeyView& key, SortBy by) {
  switch (by) {
    case SortBy::kRate:
      return accesses_rate(key);
    case SortBy::kBytes:
      return key.bytes_rate;
    case SortBy::kShare:
      return key.share;
    case SortBy::kReads:
      return key.reads_rate;
    case SortBy::kWrites:
      return key.writes_rate;
    case SortBy::kHits:
      return key.hits_rate;
    case SortBy::kMisses:
      return key.misses_rate;
  }
  std::abort();
}

SortBy stepped(SortBy sort, std::size_t steps) {
  return static_cast<SortBy>((static_cast<std::size_t>(sort) + steps) % kNames.size());
}

}  // namespace

std::string_view to_string(SortBy sort) { return kNames.at(static_cast<std::size_t>(sort)); }
SortBy after(SortBy sort) { return stepped(sort, 1); }
SortBy before(SortBy sort) { return stepped(sort, kNames.size() - 1); }

Result<Order> parse_order(std::string_view text) {
  const bool reversed = text.starts_with('-');
  const std::string_view name = text.substr(reversed ? 1 : 0);
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    return invalid_argument(
        fmt::format("unknown order '{}': use one of {}; put '-' before it to reverse the order",
                    printable(name), fmt::join(kNames, ", ")));
  return Order{static_cast<SortBy>(found - kNames.begin()), reversed};
}

double accesses_rate(const KeyView& key) {
  return key.dimension == "requests" ? key.rate : key.reads_rate + key.writes_rate;
}

double sort_value(const KeyView& key, SortBy by) {
  const double value = value_of(key, by);
  return std::isnan(value) ? -1 : value;
}

}  // namespace heatsink::app
