// SPDX-License-Identifier: Apache-2.0
// Prints the tallies of a load.
#pragma once

#include <string>

#include "apps/heatsink/load/tally.h"
#include "heatsink/base/clock.h"

namespace heatsink::app {

// One line, ended by '\n', for the `span` that ends `elapsed` after the start.
std::string tally_line(const Tally& tally, Nanos elapsed, Nanos span);

// Each error with its count, most frequent first, after a line with their number.
std::string errors_text(const Tally& tally);

// Everything: operations, latencies, errors.
std::string tally_text(const Tally& tally, Nanos elapsed);

// The report as one line of JSON, in seconds and milliseconds; errors only by their number.
std::string tally_json(const Tally& tally, Nanos elapsed);

}  // namespace heatsink::app
