// SPDX-License-Identifier: Apache-2.0
// Counters: what a sum may be, where only additions of at least 1 change a counter.
//
// A sum has at least all additions that were answered before it was asked for, and at most all that
// were sent before it was answered. No sum is smaller than one that was answered before it was
// asked for. An addition of unknown outcome may have happened, once, or may yet.
#pragma once

#include <vector>

#include "tests/consistency/op.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {

// Of each counter of the history, at most `most`. O(n log n).
std::vector<Violation> check_sums(const History& history, std::size_t most);

}  // namespace heatsink::consistency
