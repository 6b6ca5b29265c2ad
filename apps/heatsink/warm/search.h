// SPDX-License-Identifier: Apache-2.0
// Has the proxy look for the keys of a pattern, and watches until they are loaded.
#pragma once

#include "apps/heatsink/warm/order.h"

namespace heatsink::app {

// REQUIRES a pattern that is to begin. Prints to stdout, moves a bar on stderr if that is a
// terminal; an exit code. A signal that ends programs ends the search: what is warmed by then stays
// so, and is told.
int run_search(const WarmRun& run);

}  // namespace heatsink::app
