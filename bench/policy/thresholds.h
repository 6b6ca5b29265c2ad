// SPDX-License-Identifier: Apache-2.0
// Copies of the keys whose rate over a window exceeds a threshold, for many settings at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/policy/workload.h"

namespace heatsink::bench {

struct ThresholdResult {
  double window_s = 0;
  std::uint32_t threshold = 0;  // accesses in the window
  std::size_t copies = 0;
  std::uint64_t hits = 0;
  std::uint64_t fills = 0;
  std::uint64_t invalidated = 0;
};

// The settings that `heatsink replay` would try at this rate (heatsink/replay/grid.cc), with exact
// counts. It favours the thresholds: a key becomes hot with the access that reaches the threshold,
// not at the next judgement. It stops being hot when a slot (a tenth of the window) ends with fewer
// than 0.8 times as many, or when `copies` clearly busier keys are there. While a key is hot, its
// first read, and the first after each write, is a fill.
//
// `copy_requests`: a copy expires so many requests after its fill; 0: never. (The settings share
// one clock per key, so a key that becomes hot later by one setting is filled once too often.)
// REQUIRES at most three capacities.
std::vector<ThresholdResult> try_thresholds(const Workload& workload,
                                            const std::vector<bool>& writes, double rate,
                                            std::span<const std::size_t> capacities,
                                            std::size_t copy_requests);

}  // namespace heatsink::bench
