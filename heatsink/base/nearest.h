// SPDX-License-Identifier: Apache-2.0
// Finds the known word closest to a mistyped one, for "did you mean".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heatsink {

// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
// (optimal string alignment). O(|a| * |b|) time, for typed words: only the first 128 bytes of each
// count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest of `known`; of two equally close ones the first; "" if none is close enough to be
// meant (at most a third of the longer word may differ, and one letter always may). A view into
// `known`.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

}  // namespace heatsink
