// SPDX-License-Identifier: Apache-2.0
// What the server does for window statistics: one function that adds, one that reads, one that
// lists.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heatsink/distributed/function_library.h"

namespace heatsink::distributed {

// A statistic is kept in so many slots of time; what is older than all of them is gone.
inline constexpr std::int64_t kStatisticSlots = 60;

// add    KEYS: one statistic_key(). ARGV: writer, sequence, slot in ms, slots, a part.
//        Replies [1, slot]: counted in that slot, by the server's clock; [0, slot]: had been
//        counted before, which is nothing new. Sequences of a writer rise from 1 with each part.
// read   KEYS: likewise. ARGV: of the last so many ms.
//        Replies [now in ms, slot in ms, slots, slot of now, slots that are wanted of it and before
//        it, bytes of a slot, ...], where slots may be older than wanted; [now in ms]: nothing.
// list   KEYS: one, which says where to look. ARGV: cursor, pattern (statistic_key_pattern()).
//        Replies as SCAN.
//
// In the hash at such a key are `head` (slot in ms, slots, latest slot, parts in it), a field for
// each slot by its place in the ring, as decode_slot() takes it, and one for each writer: its last
// sequence and the slot of it. All expire when nobody has written for the whole window and a slot;
// writers' fields that are older go once a window.
//
// A part costs the same whatever the slot holds: it is appended, and parts are merged 16 at a time
// or when their slot is over. Time that goes back stands still, up to a window; if it goes back
// further, what was counted by the wrong time goes.
const FunctionLibrary& statistic_functions();

// The same with another clock, for tests: Lua that gives seconds and microseconds as TIME does.
std::unique_ptr<FunctionLibrary> statistic_functions_by(std::string_view clock);

}  // namespace heatsink::distributed
