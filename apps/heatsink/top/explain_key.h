// SPDX-License-Identifier: Apache-2.0
// Writes the output of heatsink explain, for a view from any source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/heatsink/top/view.h"

namespace heatsink::app {

struct Question {
  std::string raw_name;             // exact bytes
  std::optional<std::uint64_t> db;  // nothing: in all databases
};

// The rows of the key. Valid as long as the view.
std::vector<const KeyView*> find_rows(const HotkeysView& view, const Question& question);

// Whether one of the rows is at least warm: cold keys may have rows, too (closer_look.h).
bool is_listed(const HotkeysView& view, const Question& question);
std::size_t listed_keys(const HotkeysView& view);

// Facts and advice for each row; without rows, what it means that the key is not listed. Lines of
// at most `columns`, safe for a terminal.
inline constexpr int kExplainColumns = 100;
std::string explain_text(const HotkeysView& view, const Question& question,
                         int columns = kExplainColumns);

// The same as one line of JSON; docs/guides/top.md names the members.
std::string explain_json(const HotkeysView& view, const Question& question);

}  // namespace heatsink::app
