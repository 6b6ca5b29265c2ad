// SPDX-License-Identifier: Apache-2.0
// A whole load: preload, then the mix, told every second and at the end.
#pragma once

#include <string>

#include "apps/heatsink/load/worker.h"
#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// Until `run_for` (0: no end) or SIGINT, SIGTERM or SIGHUP, which it takes over in the calling
// thread and the threads it starts. Prints to stdout, with `quiet` only the end. Returns kDone, or
// kFailed when nothing was ever answered without an error; the sentence is on stderr.
int run_load_session(const LoadOptions& options, const net::RedisUrl& url, Nanos run_for,
                     bool quiet);

}  // namespace heatsink::app
