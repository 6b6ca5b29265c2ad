// SPDX-License-Identifier: Apache-2.0
// How long clients wait for a worker, and the worker for the server.
#pragma once

#include "heatsink/copies/duration_histogram.h"

namespace heatsink::proxy {

// Its worker observes, any thread reads.
struct Latencies {
  // From when commands of a client have been read until all that it has sent is answered. Commands
  // that wait by their nature (BLPOP, SUBSCRIBE, MONITOR) are left out.
  copies::DurationHistogram client;
  // From a command until the end of the server's reply, by the connection that carried it.
  copies::DurationHistogram shared;
  copies::DurationHistogram exclusive;
};

}  // namespace heatsink::proxy
