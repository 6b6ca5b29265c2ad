// SPDX-License-Identifier: Apache-2.0
// Provides the server's functions for window statistics: one adds, one reads, one lists.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heatsink/distributed/function_library.h"

namespace heatsink::distributed {

// A statistic has this many slots of time; older numbers are gone.
inline constexpr std::int64_t kStatisticSlots = 60;

// add    KEYS: one statistic_key(). ARGV: writer, sequence, slot in ms, slots, a part.
//        Replies [1, slot]: counted in that slot, by the server's clock; [0, slot]: it had been
//        counted before, so nothing was added. A writer's sequences rise from 1 with each part.
// read   KEYS: one statistic_key(). ARGV: the length of the past to read, in ms.
//        Replies [now in ms, slot in ms, slots, slot of now, number of wanted slots up to it,
//        bytes of a slot, ...], where some slots may be older than wanted; [now in ms]: nothing.
// list   KEYS: one key, which selects the node. ARGV: cursor, pattern (statistic_key_pattern()).
//        Replies as SCAN.
//
// The hash at such a key has `head` (slot in ms, slots, latest slot, parts in it), a field for each
// slot by its index in the ring, as decode_slot() takes it, and a field for each writer: its last
// sequence and the slot of it. All expire when nothing was written for the whole window and a slot;
// older writers' fields are removed once a window.
//
// The cost of a part does not depend on the slot's content: parts are appended, and merged 16 at a
// time or when their slot is over. If the server's clock goes back, time stands still, for up to a
// window; if it goes back further, numbers counted at the wrong time are dropped.
const FunctionLibrary& statistic_functions();

// The library with another clock, for tests: Lua that returns seconds and microseconds as TIME
// does.
std::unique_ptr<FunctionLibrary> statistic_functions_by(std::string_view clock);

}  // namespace heatsink::distributed
