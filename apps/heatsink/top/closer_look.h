// SPDX-License-Identifier: Apache-2.0
// Handles the one key that the user has opened: it needs more facts than the list of hot keys has.
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
  std::string raw_name;             // its complete bytes
  std::optional<std::uint64_t> db;  // nothing: the databases that list it, else 0
  bool though_cold = false;         // even if it is not listed: adds a row with the verdict "cold"
};

// The questions to ask, one per database: the rows of the key, at most kCloserRowsMax, in their
// order. Empty: nothing to ask.
inline constexpr std::size_t kCloserRowsMax = 16;
std::vector<CloserLook> closer_looks(const HotkeysView& view, const CloserLook& look);

// The path of GET /api/key. REQUIRES a database.
std::string closer_path(const CloserLook& look);

// Adds the facts about the value in `key`, an answer of GET /api/key, to the rows of that key.
// Changes nothing if `key` is not about one key.
void add_closer_look(HotkeysView& view, const HotkeysView& key, const CloserLook& look);
// Adds to those rows the reason why there is no such answer.
void add_problem(HotkeysView& view, std::string_view why, const CloserLook& look);

}  // namespace heatsink::app
