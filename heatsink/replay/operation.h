// SPDX-License-Identifier: Apache-2.0
// Maps the name of an operation in a trace to what it means for a cache.
#pragma once

#include <optional>
#include <string_view>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// The one command that a simulated copy answers. A proxy's copy of another read answers only the
// very same arguments, which a trace does not tell: what it saves comes on top of what is reported.
inline constexpr std::string_view kCopiedRead = "GET";
bool is_copied_read(std::string_view command);  // in any case

// A Redis command by its own flags, in any case, or one of the words of other caches' traces:
// read, gets, write, put, update, remove, add, replace, cas, prepend, delete. Nothing: neither.
std::optional<Operation> operation_named(std::string_view word);

}  // namespace heatsink::replay
