// SPDX-License-Identifier: Apache-2.0
// How right detection is: real traces and hard synthetic ones against the exact window.
#pragma once

#include "bench/figures.h"

namespace heatsink::bench {

// A row for each; traces that are not at hand are told and left out. `quick`: a fifth of the length
// of the synthetic ones. 3 minutes, or 1.
void measure_accuracy(Figures& figures, bool quick);

}  // namespace heatsink::bench
