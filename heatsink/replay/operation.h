// SPDX-License-Identifier: Apache-2.0
// Maps the name of an operation in a trace to its meaning for a cache.
#pragma once

#include <optional>
#include <string_view>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// The one command that simulated copies answer. A proxy's copy of another read answers only
// identical arguments, which a trace does not contain: such hits come on top of the reported
// savings.
inline constexpr std::string_view kCopiedRead = "GET";
bool is_copied_read(std::string_view command);  // ignores case

// The meaning of a Redis command by its flags, ignoring case, or of a word in other caches' traces:
// read, gets, write, put, update, remove, add, replace, cas, prepend, delete. Nothing: unknown.
std::optional<Operation> operation_named(std::string_view word);

}  // namespace heatsink::replay
