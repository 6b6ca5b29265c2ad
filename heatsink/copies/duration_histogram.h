// SPDX-License-Identifier: Apache-2.0
// Counts durations by size.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"

namespace heatsink::copies {

// One thread observes, any thread reads; lock-free. A concurrent read may miss a duration in the
// sum or in its bucket.
class DurationHistogram {
 public:
  void observe(Nanos duration) noexcept;

  struct Total {
    std::uint64_t count = 0;
    Nanos sum{0};
  };
  Total total() const;

  // How many durations each bucket has, and the last one those above all bounds. The sum of several
  // threads' histograms.
  using Counts = std::array<std::uint64_t, 17>;
  static Counts counts(std::span<const DurationHistogram* const> histograms);
  // The quantile `q` (0 .. 1) in seconds, interpolated in its bucket as histogram_quantile() of
  // Prometheus does. Above all bounds it is the highest of them; without durations not a number.
  static double quantile(const Counts& counts, double q);

  // In seconds. `row` must outlive the sample. The sum of several threads' histograms.
  static MetricSample sample(const MetricRow& row,
                             std::span<const DurationHistogram* const> histograms);
  MetricSample sample(const MetricRow& row) const {
    const DurationHistogram* const self = this;
    return sample(row, {&self, 1});
  }

 private:
  // The proxy adds tens of microseconds to a command. Durations above 10 s share one bucket.
  static constexpr std::array<Nanos, 16> kBounds{
      Nanos(50'000),  Nanos(100'000), Nanos(250'000),
      Nanos(500'000), Millis(1),      Millis(2) + Nanos(500'000),
      Millis(5),      Millis(10),     Millis(25),
      Millis(50),     Millis(100),    Millis(250),
      Millis(500),    Millis(1000),   Millis(2500),
      Millis(10'000)};

  // The last: longer than all bounds.
  static_assert(std::tuple_size_v<Counts> == kBounds.size() + 1);
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace heatsink::copies
