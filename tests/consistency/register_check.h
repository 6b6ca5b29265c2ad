// SPDX-License-Identifier: Apache-2.0
// Is the history of one key that of a register? Zones, after Gibbons and Korach, "Testing Shared
// Memories", SIAM J. Comput. 26 (1997).
//
// All operations of one version lie in time between the moment by which it was there (its first
// response) and the moment until which it was needed (its last invocation): its zone. If the first
// comes before the second, the register had that version in between and no other: a forward zone.
// Else there is a moment at which all of them can have happened at once: a backward zone. With
// unique values a history is linearizable if and only if no value is read before it is written,
// no two forward zones overlap, and no backward zone lies within a forward one. Sorting finds it.
//
// Missing keys have no value of their own, so of them less is asked: that none is seen missing
// within a forward zone, nor without something that can have removed it since the latest version.
// That never accuses a history that is right; it overlooks some that are wrong about nil.
#pragma once

#include <vector>

#include "tests/consistency/key_history.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {

// Reads that may have been answered from a copy count as if they had been invoked `staleness`
// earlier: with 0 the history must be linearizable, with d every such read may be d old. At most
// `most` violations. O(n log n).
std::vector<Violation> check_register(const KeyHistory& key, Nanos staleness, std::size_t most);

}  // namespace heatsink::consistency
