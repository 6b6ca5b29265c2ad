// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/duration_histogram.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

namespace heatsink::copies {
namespace {

double seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

// Only one thread writes, so this needs no atomic addition: it costs as much as a plain integer.
template <class T>
void add(std::atomic<T>& to, T n) noexcept {
  to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace

void DurationHistogram::observe(Nanos duration) noexcept {
  const auto* const bound = std::lower_bound(kBounds.begin(), kBounds.end(), duration);
  add(counts_[static_cast<std::size_t>(bound - kBounds.begin())], std::uint64_t{1});
  add(sum_ns_, duration.count());
}

DurationHistogram::Total DurationHistogram::total() const {
  Total out{.sum = Nanos(sum_ns_.load(std::memory_order_relaxed))};
  for (const auto& count : counts_) out.count += count.load(std::memory_order_relaxed);
  return out;
}

DurationHistogram::Counts DurationHistogram::counts(
    std::span<const DurationHistogram* const> histograms) {
  Counts out{};
  for (const DurationHistogram* each : histograms)
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] += each->counts_[i].load(std::memory_order_relaxed);
  return out;
}

double DurationHistogram::quantile(const Counts& counts, double q) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ULL));
  if (all == 0) return std::numeric_limits<double>::quiet_NaN();
  double left = q * all;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    const double from = i == 0 ? 0 : seconds(kBounds[i - 1]);
    if (here > 0 && left <= here) return from + (seconds(kBounds[i]) - from) * left / here;
    left -= here;
  }
  return seconds(kBounds.back());
}

MetricSample DurationHistogram::sample(const MetricRow& row,
                                       std::span<const DurationHistogram* const> histograms) {
  MetricSample sample{&row, 0};
  for (const DurationHistogram* each : histograms)
    sample.value += seconds(Nanos(each->sum_ns_.load(std::memory_order_relaxed)));
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= kBounds.size(); ++i) {
    for (const DurationHistogram* each : histograms)
      count += each->counts_[i].load(std::memory_order_relaxed);
    const bool last = i == kBounds.size();
    sample.buckets.push_back(
        {last ? std::numeric_limits<double>::infinity() : seconds(kBounds[i]), count});
  }
  return sample;
}

}  // namespace heatsink::copies
