// SPDX-License-Identifier: Apache-2.0
// Order across keys: what a session is told never goes back, whichever keys it asks for; and after
// a barrier nobody reads behind it.
//
// Each operation has a moment at which the server's state was what it says. What was written after
// a certain time was there after it: so reading a version says that the moment is not before the
// version's write was sent, and not after the version was certainly replaced. A read that the order
// puts behind a moment later than that is accused. All of it is about keys that were read at
// all, and says nothing that a right history does not keep; what it overlooks are moments that the
// recorded times leave open.
#pragma once

#include <vector>

#include "tests/consistency/key_history.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {

// Within each session, in its program's order: monotonic reads and own writes across keys.
// `keys` as split_by_key() gives them. O(n log n).
std::vector<Violation> check_session_order(const std::vector<KeyHistory>& keys, std::size_t most);

// Of all reads through a proxy that were sent after a barrier of it was answered, or stand behind
// one in their session. O(n log n).
std::vector<Violation> check_barriers(const History& history, const std::vector<KeyHistory>& keys,
                                      std::size_t most);

}  // namespace heatsink::consistency
