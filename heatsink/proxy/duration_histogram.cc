// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/duration_histogram.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace heatsink::proxy {
namespace {

double seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void DurationHistogram::observe(Nanos duration) noexcept {
  const auto* const bound = std::lower_bound(kBounds.begin(), kBounds.end(), duration);
  counts_[static_cast<std::size_t>(bound - kBounds.begin())].fetch_add(1,
                                                                       std::memory_order_relaxed);
  sum_ns_.fetch_add(duration.count(), std::memory_order_relaxed);
}

MetricSample DurationHistogram::sample(const MetricRow& row) const {
  MetricSample sample{&row, seconds(Nanos(sum_ns_.load(std::memory_order_relaxed)))};
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i].load(std::memory_order_relaxed);
    const bool last = i == kBounds.size();
    sample.buckets.push_back(
        {last ? std::numeric_limits<double>::infinity() : seconds(kBounds[i]), count});
  }
  return sample;
}

}  // namespace heatsink::proxy
