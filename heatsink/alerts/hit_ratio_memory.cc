// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/hit_ratio_memory.h"

#include <algorithm>
#include <cmath>

namespace heatsink::alerts {
namespace {

constexpr Nanos kGapMax = std::chrono::seconds(1);

double seconds_of(Nanos time) { return std::chrono::duration<double>(time).count(); }

// The weight of `step` in a mean over `time`; at first, in the plain mean of what is known.
double weight_of(Nanos step, Nanos time, Nanos known) {
  const double plain = known > Nanos(0) ? seconds_of(step) / seconds_of(known) : 1;
  return std::max(plain, 1 - std::exp(-seconds_of(step) / seconds_of(time)));
}

}  // namespace

void HitRatioMemory::learn(double ratio, TimePoint now) {
  const Nanos step = learned_at_ ? std::min(now - *learned_at_, kGapMax) : kGapMax;
  learned_at_ = now;
  if (step <= Nanos(0)) return;
  learned_ += step;
  usual_ += weight_of(step, kLongTime, learned_) * (ratio - usual_);
  lately_ += weight_of(step, kShortTime, learned_) * (ratio - lately_);
}

}  // namespace heatsink::alerts
