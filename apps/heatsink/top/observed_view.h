// SPDX-License-Identifier: Apache-2.0
// Turns what sources saw of a server into the values that the screens show.
#pragma once

#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/detect/detect.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// The rows are those of the first source. Says the same as parse_hotkeys(observed_json(picture)),
// without the way through JSON. O(rows). REQUIRES at least one source.
HotkeysView observed_view(const observe::Picture& picture);

// As it is shown and written: "starting", "running", "finished", "failed".
std::string_view to_string(observe::SourceState state);
// Of the accesses that are counted with a verdict, per second.
double reads_rate(const detect::Verdict& verdict);
// That nothing is hot, and that there are no requests, is only known once something was seen.
bool is_verdict_withheld(const observe::Observation& first);
std::string not_known_yet(const observe::Observation& first);  // the headline then

}  // namespace heatsink::app
