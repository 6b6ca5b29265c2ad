// SPDX-License-Identifier: Apache-2.0
// Describes what is known of a key in words, for its page in top and for explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/view.h"
#include "heatsink/advice/advice.h"

namespace heatsink::app {

// One line, or a sentence that may be wrapped. Not escaped for a terminal yet.
struct Fact {
  std::string_view label;  // "reads"; at most nine columns
  std::string text;
  std::vector<std::string> lines{};  // to be pasted unchanged
};

// As reported, or calculated from the name; nothing if only a part of the name is known.
std::optional<std::uint16_t> slot_of(const KeyView& key);

// If the source does not know a fact, its text says so, or it is left out.
std::vector<Fact> key_facts(const KeyView& key, const HotkeysView& view);

// The reliefs of the key according to the view: each is "done", "helps" or "no use".
advice::Advice advice_on(const KeyView& key, const HotkeysView& view);
std::vector<Fact> advice_facts(const KeyView& key, const HotkeysView& view);

}  // namespace heatsink::app
