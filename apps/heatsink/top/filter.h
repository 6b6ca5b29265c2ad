// SPDX-License-Identifier: Apache-2.0
// Filters the keys that the user wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/detect.h"

namespace heatsink::app {

// A key must meet all given conditions; without conditions all keys pass. Immutable once parsed.
struct KeyFilter {
  std::string text;  // as typed
  std::optional<detect::KeyPattern> name;
  std::optional<std::uint64_t> db;
  std::string command;  // in capitals; among the key's busiest
  std::string client;   // prefix of the address of one of the key's busiest clients
  std::string verdict;  // "hot" ...
  std::string node;     // prefix of its node's address

  bool matches(const KeyView& key) const;
};

// Words separated by spaces: `db=3`, `command=GET`, `client=10.0.`, `verdict=hot`, `node=10.0.`,
// and at most one word for the name: a pattern if it contains any of * ? [ (as in KEYS), else a
// prefix. Bytes may be typed as displayed (\x00; a space is \x20). An error explains the valid
// forms.
inline constexpr std::size_t kFilterBytesMax = 512;
Result<KeyFilter> parse_filter(std::string_view text);

}  // namespace heatsink::app
