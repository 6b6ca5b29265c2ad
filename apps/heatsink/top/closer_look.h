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

namespace heatsink::app {

struct CloserLook {
  std::string raw_name;             // its exact bytes, all of them
  std::optional<std::uint64_t> db;  // nothing: wherever it is listed, else 0
  bool though_cold = false;         // also if it is not listed: then its row is added, as "cold"
};

// What to ask about, one database each, given the answer of GET /api/hotkeys: the rows of the key,
// at most kCloserRowsMax, in their order. Empty: there is nothing to ask, or `hotkeys` is none.
inline constexpr std::size_t kCloserRowsMax = 16;
std::vector<CloserLook> closer_looks(std::string_view hotkeys, const CloserLook& look);

// By which GET /api/key is asked. REQUIRES a database.
std::string closer_path(const CloserLook& look);

// `hotkeys` with what `key`, the answer of GET /api/key, has of the value in the rows of that key;
// as it was if one of them is not what it should be.
std::string with_closer_look(std::string_view hotkeys, std::string_view key,
                             const CloserLook& look);
// Where there is no such answer: why.
std::string with_no_closer_look(std::string_view hotkeys, std::string_view why,
                                const CloserLook& look);

}  // namespace heatsink::app
