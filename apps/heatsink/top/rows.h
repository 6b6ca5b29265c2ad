// SPDX-License-Identifier: Apache-2.0
// The rows of the table of keys: those that a person wants to see, folded and in the chosen order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "apps/heatsink/top/filter.h"
#include "apps/heatsink/top/history.h"
#include "apps/heatsink/top/sort.h"
#include "apps/heatsink/top/view.h"

namespace heatsink::app {

struct RowChoices {
  Order order{};
  KeyFilter filter{};
  bool templates = false;        // keys whose names differ only in identifiers are one row
  std::optional<KeyId> group{};  // only keys of this template (its pattern as raw_name), each a row
  std::size_t limit = 0;         // rows; 0: all
};

struct TopRow {
  const KeyView* key;    // of the view, or of TopRows::folded
  std::size_t keys = 0;  // that a template stands for; 0: it is a key
};

// `rows` points into `folded`, so it may be moved and not copied.
struct TopRows {
  std::deque<KeyView> folded;
  std::vector<TopRow> rows;
  std::size_t keys = 0;  // that passed the filter, before the limit

  TopRows() = default;
  TopRows(TopRows&&) = default;
  TopRows& operator=(TopRows&&) = default;
  TopRows(const TopRows&) = delete;
};

// Pure. Valid as long as the view. Sums of a template: rates and their bounds, shares, and of its
// keys' busiest commands and clients those that are busiest together; its state is that of its
// hottest key. A template of a single key is that key. O(keys x (name + log keys)).
TopRows rows_of(const HotkeysView& view, const RowChoices& choices);

}  // namespace heatsink::app
