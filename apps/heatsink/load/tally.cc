// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/tally.h"

#include <algorithm>
#include <cmath>

namespace heatsink::app {

void LatencyRecorder::add(Nanos latency) {
  latency = std::max(latency, Nanos(0));
  ++counts_[stats::bucket_of(static_cast<std::uint64_t>(latency.count()))];
  ++count_;
  max_ = std::max(max_, latency);
}

void LatencyRecorder::merge(const LatencyRecorder& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Nanos LatencyRecorder::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen < wanted || counts_[i] == 0) continue;
    const stats::BucketRange range = stats::range_of(static_cast<std::uint32_t>(i));
    return std::min(max_, Nanos(static_cast<Nanos::rep>(range.low + range.width - 1)));
  }
  return max_;
}

std::uint64_t Tally::error_count() const {
  std::uint64_t sum = 0;
  for (const auto& [text, count] : errors) sum += count;
  return sum;
}

void Tally::add_error(const std::string& text, std::uint64_t count) {
  const bool room = errors.size() < kErrorTextsMax || errors.contains(text);
  errors[room ? text : "other errors"] += count;
}

void Tally::merge(const Tally& other) {
  reads += other.reads;
  writes += other.writes;
  nils += other.nils;
  given_up += other.given_up;
  latency.merge(other.latency);
  for (const auto& [text, count] : other.errors) add_error(text, count);
}

}  // namespace heatsink::app
