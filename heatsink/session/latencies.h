// SPDX-License-Identifier: Apache-2.0
// Measures how long clients wait for a worker, and how long the worker waits for the server.
#pragma once

#include "heatsink/copies/duration_histogram.h"

namespace heatsink::proxy {

// The worker writes, any thread reads.
struct Latencies {
  // From reading a client's commands until all of them are answered. Commands that wait by their
  // nature (BLPOP, SUBSCRIBE, MONITOR) are left out.
  copies::DurationHistogram client;
  // From sending a command until the end of the server's reply, by kind of connection.
  copies::DurationHistogram shared;
  copies::DurationHistogram exclusive;
};

}  // namespace heatsink::proxy
