// SPDX-License-Identifier: Apache-2.0
// Compares the results of several sources for the same server.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/observe/source.h"

namespace heatsink::observe {

inline constexpr std::size_t kCheckedKeys = 10;  // the busiest keys of each source

// Compares the first source with each other source. Returns a sentence for each key whose two
// bounds exclude each other, and for each key that is hot in one source and unknown to the other.
// Two sources that agree give one sentence saying so; fewer than two sources with rows give
// nothing. Names are printable. O(rows).
std::vector<std::string> cross_check(std::span<const Observation> seen);

}  // namespace heatsink::observe
