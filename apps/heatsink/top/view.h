// SPDX-License-Identifier: Apache-2.0
// Reads the answer of a node to /api/hotkeys, and what else is asked of such an answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/hotkeys_view.h"  // IWYU pragma: export
#include "heatsink/base/result.h"

namespace heatsink::app {

// An observed server has no proxy: its hits are unknown, which differs from none.
void forget_hits(HotkeysView& view);

// The program on that port may send anything: beyond kAnswerBytesMax, kAnswerDepthMax or
// kKeysShownMax, without a member, or with a mistyped one it is kProtocol, and the message names
// the member. Unknown members are skipped.
Result<HotkeysView> parse_hotkeys(std::string_view json);

// The highest rate of a listed key: what the samples did not see may all be its accesses.
double at_most(const KeyView& key, const NodeView& node);
// Whether a key that is not proven hot reaches the threshold with what the samples did not see.
bool is_unproven(const KeyView& key, const NodeView& node);

// The same JSON on one line, with only the keys at the indexes in `chosen`, in that order. REQUIRES
// text that parse_hotkeys() accepts.
std::string json_with_keys(std::string_view json, const std::vector<std::size_t>& chosen);

// The same JSON on one line, unchanged if it is on one line already; kProtocol if it is not JSON.
Result<std::string> json_on_one_line(std::string_view json);

}  // namespace heatsink::app
