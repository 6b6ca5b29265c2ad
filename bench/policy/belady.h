// SPDX-License-Identifier: Apache-2.0
// The most reads that any policy can answer from copies if fills cost nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/policy/workload.h"

namespace heatsink::bench {

struct OptimalCounts {
  std::uint64_t hits = 0;
  std::uint64_t fills = 0;
  std::uint64_t invalidated = 0;
};

// L. A. Belady, "A study of replacement algorithms for virtual-storage computers", IBM Systems
// Journal 5(2), 1966: keeps the copies that are read soonest. A read makes no copy if a write or
// nothing follows it, or if all copies are read sooner; so none is ever invalidated.
// O(requests * log copies).
OptimalCounts optimal(const Workload& workload, const std::vector<bool>& writes,
                      std::size_t copies);

}  // namespace heatsink::bench
