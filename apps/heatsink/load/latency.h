// SPDX-License-Identifier: Apache-2.0
// Counts latencies in fixed memory, in steps of about 3 %.
#pragma once

#include <array>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/stats/buckets.h"

namespace heatsink::app {

// Uses the buckets of stats, so a quantile is at most 1/32 too high. Not a stats::Histogram: that
// one reports the middle of a bucket, and allocates. A load must not report clients' waits too low,
// nor wait for memory itself. Mergeable, 15 KiB, no allocation, O(1) per latency. Not thread-safe.
class LatencyRecorder {
 public:
  void add(Nanos latency);  // a negative one counts as 0
  void merge(const LatencyRecorder& other);

  std::uint64_t count() const { return count_; }
  Nanos max() const { return max_; }
  // The end of the smallest bucket that at least `share` (0 .. 1) of the latencies do not exceed,
  // but at most max(); 0 without latencies.
  Nanos quantile(double share) const;

 private:
  std::array<std::uint64_t, stats::kBucketsEachSign> counts_{};
  std::uint64_t count_ = 0;
  Nanos max_{0};
};

}  // namespace heatsink::app
