// SPDX-License-Identifier: Apache-2.0
// Makes the proxy search the keys of a pattern, and waits until they are loaded.
#pragma once

#include "apps/heatsink/warm/order.h"

namespace heatsink::app {

// REQUIRES an order that begins a pattern. Prints to stdout; draws a progress bar on stderr if that
// is a terminal. Returns an exit code. A signal that ends programs ends the search: keys warmed by
// then stay so, and are reported.
int run_search(const WarmRun& run);

}  // namespace heatsink::app
