// SPDX-License-Identifier: Apache-2.0
// What detection costs: per access, on one thread and two, beside the naive design; by the number
// of distinct keys; per summary.
#pragma once

#include <cstddef>

namespace heatsink::bench {

struct CostOptions {
  int rounds = 15;                   // medians over these; contenders take turns within each
  std::size_t accesses = 1'000'000;  // per contender, thread and round
};

// Prints the tables on standard output, and each target with what was reached. False when one was
// missed. Takes about half a minute.
bool print_cost(const CostOptions& options);

}  // namespace heatsink::bench
