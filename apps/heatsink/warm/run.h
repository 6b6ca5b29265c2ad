// SPDX-License-Identifier: Apache-2.0
// Tells a running proxy which keys to warm, batch by batch.
#pragma once

#include "apps/heatsink/warm/order.h"

namespace heatsink::app {

// Prints to stdout, moves a bar on stderr if that is a terminal; an exit code.
int run_warm(const WarmRun& run);

}  // namespace heatsink::app
