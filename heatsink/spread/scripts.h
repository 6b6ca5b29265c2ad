// SPDX-License-Identifier: Apache-2.0
// Holds the scripts that nodes run for copies. All of them use one key.
#pragma once

#include <string_view>

namespace heatsink::spread {

// KEYS[1]: a copy. ARGV: the lease's text, the copy's text, and the rest of the original's TTL in
// ms, or -1. Replaces the lease if it is still there; keeps its end, or shortens it to that of the
// original. Returns 1 if the copy was filled.
extern const std::string_view kFillScript;

// KEYS[1]: a layout. ARGV: its text as the proxy knows it, or "" for none; the slots of the new
// one; kLayoutLeastMs; kLayoutEndsMs. Replaces the layout, unless it is another one meanwhile, or
// too young. Returns the text that is valid then.
extern const std::string_view kLayoutScript;

}  // namespace heatsink::spread
