// SPDX-License-Identifier: Apache-2.0
// Converts the observations of a server to the values that the screens show.
#pragma once

#include <string_view>

#include "apps/heatsink/top/view.h"
#include "heatsink/detect/detect.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// The rows of the first source. Equals parse_hotkeys(observed_json(picture)), without the JSON.
// O(rows). REQUIRES at least one source.
HotkeysView observed_view(const observe::Picture& picture);

// Adds what the source knows of the key in this row of its report, beside its accesses.
void add_seen(const observe::Observation& seen, std::size_t row, KeyView& key);

// For display and JSON: "starting", "running", "finished", "failed".
std::string_view to_string(observe::SourceState state);
// The reads per second, from the verdict's counts.
double reads_rate(const detect::Verdict& verdict);
// Without data from a source, "nothing is hot" and "no requests" would be guesses.
bool is_verdict_withheld(const observe::Observation& first);
std::string not_known_yet(const observe::Observation& first);  // the headline in that case

}  // namespace heatsink::app
