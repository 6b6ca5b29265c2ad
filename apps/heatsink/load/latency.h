// SPDX-License-Identifier: Apache-2.0
// Latencies in fixed memory: counted in steps of about 3 %.
#pragma once

#include <array>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/stats/buckets.h"

namespace heatsink::app {

// Counts by the buckets of stats, so a quantile is at most 1/32 above the truth. Not a
// stats::Histogram: that one stands for a bucket by its middle and allocates, and a load that says
// how long clients wait must not say too little, nor wait itself. Mergeable, 15 KiB, no allocation,
// O(1) per latency. Not thread-safe.
class LatencyRecorder {
 public:
  void add(Nanos latency);  // a negative one counts as 0
  void merge(const LatencyRecorder& other);

  std::uint64_t count() const { return count_; }
  Nanos max() const { return max_; }
  // The smallest bucket's end that at least `share` (0 .. 1) of the latencies do not pass, but
  // never past max(); 0 when there are none.
  Nanos quantile(double share) const;

 private:
  std::array<std::uint64_t, stats::kBucketsEachSign> counts_{};
  std::uint64_t count_ = 0;
  Nanos max_{0};
};

}  // namespace heatsink::app
