// SPDX-License-Identifier: Apache-2.0
// What heatsink explain says of a key, whatever source the view came from.
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
  std::optional<std::uint64_t> db;  // none: in every database
};

// The rows of the view that are about the key. Valid as long as the view.
std::vector<const KeyView*> find_rows(const HotkeysView& view, const Question& question);

// Whether one of them is at least warm: of a cold key there may be a row, too (top_closer_look.h).
bool is_listed(const HotkeysView& view, const Question& question);
std::size_t listed_keys(const HotkeysView& view);

// Facts and advice for each row; without one, what it means that the key is not listed. Lines of at
// most 100 columns, fit for a terminal.
std::string explain_text(const HotkeysView& view, const Question& question);

// The same as one line of JSON; docs/guides/top.md names the members.
std::string explain_json(const HotkeysView& view, const Question& question);

}  // namespace heatsink::app
