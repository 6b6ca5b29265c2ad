// SPDX-License-Identifier: Apache-2.0
// Latencies in fixed memory: counted in steps of about 3 %.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::app {

// Counts per step; a power of two is cut into 32 steps, so a quantile is at most 1/32 above the
// truth. Mergeable, 15 KiB, no allocation, O(1) per latency. Not thread-safe.
class LatencyRecorder {
 public:
  void add(Nanos latency);  // a negative one counts as 0
  void merge(const LatencyRecorder& other);

  std::uint64_t count() const { return count_; }
  Nanos max() const { return max_; }
  // The smallest step's end that at least `share` (0 .. 1) of the latencies do not pass, but never
  // past max(); 0 when there are none.
  Nanos quantile(double share) const;

 private:
  static constexpr unsigned kStepBits = 5;
  static constexpr std::size_t kSteps = (64 - kStepBits) << kStepBits;
  static std::size_t step_of(std::uint64_t nanos);
  static std::uint64_t last_of(std::size_t step);

  std::array<std::uint64_t, kSteps> counts_{};
  std::uint64_t count_ = 0;
  Nanos max_{0};
};

}  // namespace heatsink::app
