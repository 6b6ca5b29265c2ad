// SPDX-License-Identifier: Apache-2.0
// Nobody goes back: not a session, by the order of its own program; not the clients of one proxy,
// by the clock.
//
// What a session (or any client of the proxy) has written or been shown is a floor: a version that
// was there before the floor's write had even been sent is behind it. Writers past the proxy do not
// matter: these promises have no bound in time.
#pragma once

#include <vector>

#include "tests/consistency/key_history.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {

// Own writes and monotonic reads, within pipelines too. O(n log n).
std::vector<Violation> check_sessions(const KeyHistory& key, std::size_t most);

// Among all clients of each proxy. O(n log n).
std::vector<Violation> check_no_way_back(const KeyHistory& key, std::size_t most);

}  // namespace heatsink::consistency
