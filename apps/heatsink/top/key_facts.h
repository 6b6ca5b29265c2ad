// SPDX-License-Identifier: Apache-2.0
// What is known of a key, in words: for its page in top and for explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/view.h"
#include "heatsink/advice/advice.h"

namespace heatsink::app {

// One line, or a sentence that may be wrapped. Nothing in it is escaped for a terminal yet.
struct Fact {
  std::string_view label;  // "reads"; at most nine columns
  std::string text;
  std::vector<std::string> lines{};  // to be pasted, each as it is
};

// As told, or by the name; nothing if only a part of the name is known.
std::optional<std::uint16_t> slot_of(const KeyView& key);

// Of a source that does not know something the fact says so, or is left out.
std::vector<Fact> key_facts(const KeyView& key, const HotkeysView& view);

// What would take load off the key, from what the view tells of it and its node.
// Every relief: "done", "helps" or "no use".
advice::Advice advice_on(const KeyView& key, const HotkeysView& view);
std::vector<Fact> advice_facts(const KeyView& key, const HotkeysView& view);

}  // namespace heatsink::app
