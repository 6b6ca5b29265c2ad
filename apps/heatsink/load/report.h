// SPDX-License-Identifier: Apache-2.0
// The tallies of a load as text.
#pragma once

#include <string>

#include "apps/heatsink/load/tally.h"
#include "heatsink/base/clock.h"

namespace heatsink::app {

// One line, ended by '\n', for what was seen in the `span` that ends `elapsed` after the start.
std::string tally_line(const Tally& tally, Nanos elapsed, Nanos span);

// Each error with its count, most frequent first, after a line with their number.
std::string errors_text(const Tally& tally);

// All of it: operations, latencies, errors.
std::string tally_text(const Tally& tally, Nanos elapsed);

}  // namespace heatsink::app
