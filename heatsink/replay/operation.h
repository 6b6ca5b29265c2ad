// SPDX-License-Identifier: Apache-2.0
// What the word that a trace has for an operation means to a cache.
#pragma once

#include <optional>
#include <string_view>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// A Redis command by its own flags, in any case, or one of the words of other caches' traces:
// read, gets, write, put, update, remove, add, replace, cas, prepend, delete. Nothing: neither.
std::optional<Operation> operation_named(std::string_view word);

}  // namespace heatsink::replay
