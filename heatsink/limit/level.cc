// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/level.h"

#include <algorithm>

namespace heatsink::limit {

Level::Raised Level::raise(std::uint64_t by, const Span& span) noexcept {
  std::uint64_t seen = level_.load(std::memory_order_relaxed);
  for (;;) {
    const bool is_absurd = seen > span.absurd;
    const std::uint64_t from = is_absurd ? span.top : std::max(seen, span.floor);
    const bool allowed = by <= (from < span.top ? span.top - from : 0);
    if (!allowed && !is_absurd) return {false, from};
    if (level_.compare_exchange_weak(seen, allowed ? from + by : from, std::memory_order_relaxed))
      return {allowed, from};
  }
}

void Level::lower(std::uint64_t by, std::uint64_t top_max) noexcept {
  std::uint64_t seen = level_.load(std::memory_order_relaxed);
  while (seen <= top_max && !level_.compare_exchange_weak(seen, seen - std::min(seen, by),
                                                          std::memory_order_relaxed)) {
  }
}

}  // namespace heatsink::limit
