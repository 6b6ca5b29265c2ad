// SPDX-License-Identifier: Apache-2.0
// What sources saw, as the JSON that everybody reads.
#pragma once

#include <string>

#include "heatsink/base/wall_time.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// The answer of /api/hotkeys with the rows of the first source, and the members that
// docs/reference/http-api.md has of an observed server. One line. REQUIRES at least one source.
// Through JSON also on the way to our own screen: so what is shown, recorded and printed by --json
// is one thing. `wall_at`: the wall clock at the reports' moment.
std::string observed_json(const observe::Picture& picture, WallTime wall_at);

}  // namespace heatsink::app
