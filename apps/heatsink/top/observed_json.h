// SPDX-License-Identifier: Apache-2.0
// Writes the observations of a server as JSON, for programs.
#pragma once

#include <string>

#include "heatsink/base/wall_time.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// The answer of /api/hotkeys with the rows of the first source, and the members that
// docs/reference/http-api.md lists for an observed server. One line. REQUIRES at least one source.
// observed_view() has the same values for the screen; a test compares them. `wall_at`: the wall
// clock at the reports' time.
std::string observed_json(const observe::Picture& picture, WallTime wall_at);

}  // namespace heatsink::app
