// SPDX-License-Identifier: Apache-2.0
// Four ways to keep statistics of a window on a server: ours, and three that were tried before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/blocking_client.h"

namespace heatsink::bench {

// What a design costs with so many events in its window. Errors are those of p99, in percent; below
// zero: it tells none.
struct WindowCost {
  std::size_t measured = 0;  // events that the costs are means of
  double server_us = 0;      // of CPU, per event
  double event_us = 0;       // until it is counted, per event, by one client that waits
  double kilobytes = 0;      // of the server's memory
  double read_ms = 0;        // of the server's CPU, for one reading
  double p99_error = -1;
};

// Numbers to be added, in turn.
using Numbers = std::vector<std::int64_t>;
double exact_p99(const Numbers& numbers, std::size_t events);

// Event by event: lock, add, remove what is old, count, unlock. A score is a time.
WindowCost sorted_set_with_lock(BlockingClient& client, const Numbers& numbers, std::size_t events,
                                std::size_t measured);
// The same in one script.
WindowCost sorted_set_script(BlockingClient& client, const Numbers& numbers, std::size_t events,
                             std::size_t measured);
// All samples in one value, eight bytes of time and four of number each: read, trimmed, appended to
// and written back by the client, under a lock.
WindowCost raw_samples(BlockingClient& client, const Numbers& numbers, std::size_t events,
                       std::size_t measured);
// 600 flushes in a window of 60 slots, as of one process with the defaults; a clock of its own
// moves the slots, and what it costs the server is counted, too.
WindowCost window_statistics(BlockingClient& client, const Numbers& numbers, std::size_t events,
                             std::size_t writers);

}  // namespace heatsink::bench
