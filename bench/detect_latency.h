// SPDX-License-Identifier: Apache-2.0
// How long a key that becomes hot stays unknown.
#pragma once

#include "bench/figures.h"

namespace heatsink::bench {

// A row for each rate and number of shards, each over many phases between the jump, the slots and
// the ticks. Time is simulated; what the hand-over costs in real time is measured and told.
// `quick`: a fifth of the phases. 1 minute, or 15 s.
void measure_latency(Figures& figures, bool quick);

}  // namespace heatsink::bench
