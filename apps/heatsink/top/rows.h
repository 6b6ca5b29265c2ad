// SPDX-License-Identifier: Apache-2.0
// Makes the rows of the table of keys: filtered, folded and sorted as the user chose.
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
  bool templates = false;  // keys whose names differ only in identifiers share a row
  // only keys of this template (its pattern as raw_name), one row each
  std::optional<KeyId> group{};
  std::size_t limit = 0;  // rows; 0: all
};

struct TopRow {
  const KeyView* key;    // in the view, or in TopRows::folded
  std::size_t keys = 0;  // number of a template's listed keys
  bool is_template = false;
  bool is_counted = false;  // its rates are of all accesses, not only of listed keys
};

// `rows` points into `folded`, so it may be moved but not copied.
struct TopRows {
  std::deque<KeyView> folded;
  std::vector<TopRow> rows;
  std::size_t keys = 0;  // keys that passed the filter, before the limit

  TopRows() = default;
  TopRows(TopRows&&) = default;
  TopRows& operator=(TopRows&&) = default;
  TopRows(const TopRows&) = delete;
};

// Pure. Valid as long as the view. A template's row sums its keys' rates with their bounds and
// shares, and merges the busiest commands and clients; its state is that of its hottest key. If the
// view counts templates, the rates are of all accesses instead, and there are templates without a
// listed key; a filter keeps those that match it themselves or have a listed key that does. A
// template of a single key is that key, unless it is counted and has a star. O(keys x (name + log
// keys)).
TopRows rows_of(const HotkeysView& view, const RowChoices& choices);

}  // namespace heatsink::app
