// SPDX-License-Identifier: Apache-2.0
// Runs a whole load: first preloads, then sends the mix, with a report each second and at the end.
#pragma once

#include <string>

#include "apps/heatsink/load/worker.h"
#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// Ends after `run_for` (0: never), or at SIGINT, SIGTERM or the loss of its terminal; it handles
// these signals for the calling thread and the threads it starts. Prints to stdout; with `quiet`
// only the end. Returns kDone, or kFailed with a sentence on stderr if no request ever succeeded.
int run_load_session(const LoadOptions& options, const net::RedisUrl& url, Nanos run_for,
                     bool quiet);

}  // namespace heatsink::app
