// SPDX-License-Identifier: Apache-2.0
// Orders a running proxy to warm keys, batch by batch.
#pragma once

#include "apps/heatsink/warm/ask.h"

namespace heatsink::app {

// Prints to stdout; draws a progress bar on stderr if that is a terminal. Returns an exit code.
int run_warm(const WarmRun& run);

}  // namespace heatsink::app
