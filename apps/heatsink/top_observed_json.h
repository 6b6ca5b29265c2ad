// SPDX-License-Identifier: Apache-2.0
// What sources saw, as the JSON that everybody reads.
#pragma once

#include <span>
#include <string>

#include "heatsink/admin/admin.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// The answer of /api/hotkeys with the rows of the first source, and two members more: "sources"
// (name, state, cost, blind_spots, confidence, note, progress of each) and "cross_check" (what
// they say differently, as sentences). One line. REQUIRES at least one. Through JSON also on the
// way to our own screen: so what is shown, recorded and printed by --json is one thing.
std::string observed_json(std::span<const observe::Observation> seen, admin::WallTime wall_at);

}  // namespace heatsink::app
