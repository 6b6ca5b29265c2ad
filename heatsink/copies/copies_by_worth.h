// SPDX-License-Identifier: Apache-2.0
// Orders the keys with copies by what their copies are worth.
#pragma once

#include <span>
#include <vector>

#include "heatsink/cache/cache.h"

namespace heatsink::copies {

// All keys with copies, the best one first: those of `best` in its order, then the others by the
// reads that their copies have answered. Valid until the table changes. Its owner's thread; O(n log
// n).
std::vector<const cache::Entry*> copies_by_worth(const cache::HotTable& table,
                                                 std::span<const KeyHash> best);

}  // namespace heatsink::copies
