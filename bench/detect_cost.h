// SPDX-License-Identifier: Apache-2.0
// What detection costs: per access, on one thread and two, beside the naive design; by the number
// of distinct keys; per summary.
#pragma once

#include <cstddef>

#include "bench/figures.h"

namespace heatsink::bench {

struct CostOptions {
  int rounds = 15;                   // medians over these; contenders take turns within each
  std::size_t accesses = 1'000'000;  // per contender, thread and round
};

// Takes about half a minute.
void measure_cost(Figures& figures, const CostOptions& options);

}  // namespace heatsink::bench
