// SPDX-License-Identifier: Apache-2.0
// Which keys a person wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/detect.h"

namespace heatsink::app {

// A key must meet all that is given. Nothing given: every key. Immutable once parsed.
struct KeyFilter {
  std::string text;  // as it was typed
  std::optional<detect::KeyPattern> name;
  std::optional<std::uint64_t> db;
  std::string command;  // in capitals; one of the key's busiest
  std::string client;   // how the address of one of the key's busiest clients begins
  std::string verdict;  // "hot" ...
  std::string node;     // how its node's address begins

  bool matches(const KeyView& key) const;
};

// Words with spaces between: `db=3`, `command=GET`, `client=10.0.`, `verdict=hot`, `node=10.0.`,
// and at most one word for the name: a pattern if it has any of * ? [ (KEYS of Redis), else how the
// name begins. Bytes may be typed as they are shown (\x00; a space is \x20). An error says what may
// be typed.
inline constexpr std::size_t kFilterBytesMax = 512;
Result<KeyFilter> parse_filter(std::string_view text);

}  // namespace heatsink::app
