// SPDX-License-Identifier: Apache-2.0
// How often durations of each size have been seen.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"

namespace heatsink::copies {

// One thread observes, any thread reads; lock-free. A reading while one is observed may miss it in
// the sum or in a bucket.
class DurationHistogram {
 public:
  void observe(Nanos duration) noexcept;

  // In seconds; `row` outlives it. Of several threads' histograms the sum.
  static MetricSample sample(const MetricRow& row,
                             std::span<const DurationHistogram* const> histograms);
  MetricSample sample(const MetricRow& row) const {
    const DurationHistogram* const self = this;
    return sample(row, {&self, 1});
  }

 private:
  // A proxy adds tens of microseconds; what takes longer than 10 s is one thing.
  static constexpr std::array<Nanos, 16> kBounds{
      Nanos(50'000),  Nanos(100'000), Nanos(250'000),
      Nanos(500'000), Millis(1),      Millis(2) + Nanos(500'000),
      Millis(5),      Millis(10),     Millis(25),
      Millis(50),     Millis(100),    Millis(250),
      Millis(500),    Millis(1000),   Millis(2500),
      Millis(10'000)};

  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};  // the last: longer
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace heatsink::copies
