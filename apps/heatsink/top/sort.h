// SPDX-License-Identifier: Apache-2.0
// The orders that top lists keys in.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

enum class SortBy : std::uint8_t { kRate, kBytes, kShare, kReads, kWrites, kHits, kMisses };
std::string_view to_string(SortBy sort);  // "rate", "bytes" ...
SortBy after(SortBy sort);                // in the order above, round
SortBy before(SortBy sort);

struct Order {
  SortBy by = SortBy::kRate;
  bool reversed = false;  // least first
  friend bool operator==(Order, Order) = default;
};

// "writes", or "-writes" for the least first. An error names the words there are.
Result<Order> parse_order(std::string_view text);

// Accesses per second, whatever its rule counts: comparable between keys of different rules.
double accesses_rate(const KeyView& key);

// What keys are compared by; not known: -1, so that it stands behind all others.
double sort_value(const KeyView& key, SortBy by);

}  // namespace heatsink::app
