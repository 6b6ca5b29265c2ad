// SPDX-License-Identifier: Apache-2.0
// Defines the orders in which top lists keys.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

enum class SortBy : std::uint8_t { kRate, kBytes, kShare, kReads, kWrites, kHits, kMisses };
std::string_view to_string(SortBy sort);  // "rate", "bytes" ...
SortBy after(SortBy sort);                // the next one in the order above, cyclic
SortBy before(SortBy sort);

struct Order {
  SortBy by = SortBy::kRate;
  bool reversed = false;  // ascending
  friend bool operator==(Order, Order) = default;
};

// "writes", or "-writes" for ascending order. An error lists the valid words.
Result<Order> parse_order(std::string_view text);

// Accesses per second, whatever the key's rule counts, so that keys of different rules are
// comparable.
double accesses_rate(const KeyView& key);

// The value to sort by; unknown values are -1, so that they come last.
double sort_value(const KeyView& key, SortBy by);

}  // namespace heatsink::app
