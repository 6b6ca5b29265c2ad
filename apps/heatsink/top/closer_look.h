// SPDX-License-Identifier: Apache-2.0
// The one key that a person looks at closely: more is asked about it than the list of hot keys
// tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/view.h"

namespace heatsink::app {

struct CloserLook {
  std::string raw_name;             // its exact bytes, all of them
  std::optional<std::uint64_t> db;  // nothing: wherever it is listed, else 0
  bool though_cold = false;         // also if it is not listed: then its row is added, as "cold"
};

// What to ask about, one database each: the rows of the key, at most kCloserRowsMax, in their
// order. Empty: there is nothing to ask.
inline constexpr std::size_t kCloserRowsMax = 16;
std::vector<CloserLook> closer_looks(const HotkeysView& view, const CloserLook& look);

// By which GET /api/key is asked. REQUIRES a database.
std::string closer_path(const CloserLook& look);

// Adds what `key`, the answer of GET /api/key, tells of the value to the rows of that key. Changes
// nothing if it is not about one key.
void add_closer_look(HotkeysView& view, const HotkeysView& key, const CloserLook& look);
// Adds to those rows why there is no such answer.
void add_problem(HotkeysView& view, std::string_view why, const CloserLook& look);

}  // namespace heatsink::app
