// SPDX-License-Identifier: Apache-2.0
// Calculates the totals of a trace: its busiest keys, and how unequal the keys are.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/replay/trace.h"

namespace heatsink::replay {

struct BusyKey {
  std::uint32_t key = 0;
  std::uint64_t accesses = 0;
  std::uint64_t writes = 0;
};

// The `rank` busiest keys together have `share` of all requests.
struct SharePoint {
  std::uint64_t rank = 0;
  double share = 0;  // 0 .. 1
};

struct TraceFacts {
  static constexpr std::size_t kBusiest = 20;

  std::uint64_t gets = 0;
  std::uint64_t reads = 0;  // except gets
  std::uint64_t writes = 0;
  std::uint64_t sized = 0;              // accesses with a known size of the value
  double rate = 0;                      // mean requests per second
  std::vector<BusyKey> busiest;         // at most kBusiest
  std::vector<SharePoint> share_curve;  // ranks 1, 2, 5, 10 ... up to the number of keys

  double share_of(std::uint64_t rank) const;  // 0 if `rank` is not a point of the curve
};

// O(accesses + keys log keys); uses 16 bytes per distinct key temporarily.
TraceFacts facts_of(const Trace& trace);

}  // namespace heatsink::replay
