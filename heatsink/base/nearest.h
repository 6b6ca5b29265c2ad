// SPDX-License-Identifier: Apache-2.0
// Finds the known word that a mistyped one is closest to, for "did you mean".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heatsink {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal
// string alignment). O(|a| * |b|) time, for words a person typed: only the first 128 bytes of each
// count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest of `known`, the earlier of two equally close; "" if none is close enough that a
// person could have meant it (at most a third of the longer word differs, and one letter always
// may). A view into `known`.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

}  // namespace heatsink
