// SPDX-License-Identifier: Apache-2.0
// Parses an inline request ("SET k \"two words\"") by the quoting rules of Redis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// Splits `line` (without its end) like sdssplitargs (sds.c). "..." knows \n \r \t \b \a \xHH and
// any other escaped byte; '...' knows only \'; a closing quote ends the argument and must be
// followed by a blank. Replaces `text` by the unquoted bytes and `args` by views of it. False if
// quotes are unbalanced; both are then unusable. Cost: O(line), at most one allocation each.
[[nodiscard]] bool split_inline(std::string_view line, std::string& text,
                                std::vector<std::string_view>& args);

}  // namespace heatsink::resp
