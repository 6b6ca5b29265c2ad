// SPDX-License-Identifier: Apache-2.0
// Compares what several sources say of the same server.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/observe/source.h"

namespace heatsink::observe {

inline constexpr std::size_t kCheckedKeys = 10;  // the busiest of each source

// A sentence for each key where two sources' bounds exclude each other, or that is hot for one and
// not known to the other; the first source is compared with each other one. Names are printable.
// With two sources that agree, one sentence that says so; with fewer than two that have rows,
// nothing. O(rows).
std::vector<std::string> cross_check(std::span<const Observation> seen);

}  // namespace heatsink::observe
