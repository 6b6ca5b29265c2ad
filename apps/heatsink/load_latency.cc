// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load_latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heatsink::app {

// Below 2^kStepBits each nanosecond is a step; above, the leading bits after the first one choose
// it.
std::size_t LatencyRecorder::step_of(std::uint64_t nanos) {
  const auto bits = static_cast<unsigned>(std::bit_width(nanos));
  if (bits <= kStepBits) return nanos;
  const unsigned shift = bits - kStepBits - 1;
  return (static_cast<std::size_t>(shift) << kStepBits) + (nanos >> shift);
}

std::uint64_t LatencyRecorder::last_of(std::size_t step) {
  const std::size_t octave = step >> kStepBits;
  if (octave <= 1) return step;
  const auto shift = static_cast<unsigned>(octave - 1);
  const std::uint64_t leading = step - (static_cast<std::size_t>(shift) << kStepBits);
  return ((leading + 1) << shift) - 1;
}

void LatencyRecorder::add(Nanos latency) {
  latency = std::max(latency, Nanos(0));
  ++counts_[step_of(static_cast<std::uint64_t>(latency.count()))];
  ++count_;
  max_ = std::max(max_, latency);
}

void LatencyRecorder::merge(const LatencyRecorder& other) {
  for (std::size_t i = 0; i < kSteps; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Nanos LatencyRecorder::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    seen += counts_[i];
    if (seen < wanted || counts_[i] == 0) continue;
    return std::min(max_, Nanos(static_cast<Nanos::rep>(last_of(i))));
  }
  return max_;
}

}  // namespace heatsink::app
