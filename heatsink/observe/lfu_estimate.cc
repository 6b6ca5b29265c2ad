// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatsink::observe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

RateBounds lfu_rate(int counter, const LfuSettings& settings) {
  if (settings.decay_minutes <= 0) return {0, 0, kInfinity};
  const double f = std::max(settings.log_factor, 0.0);
  const double x = std::max(counter - kLfuBegin, 0);
  const double most = kLfuMost - kLfuBegin;
  const auto rate = [&](double at) { return (f * at + 1) / (60 * settings.decay_minutes); };
  const double deviation = std::sqrt(x / 2 + (f > 0 ? 1 / (2 * f) : 1));
  const double low = x - 2 * deviation - 1;
  const double high = x + 2 * deviation + 1;
  return {x > 0 ? rate(x) : 0, low > 0 ? rate(low) : 0, high >= most ? kInfinity : rate(high)};
}

double lfu_accesses(int counter, const LfuSettings& settings) {
  const double x = std::max(counter - kLfuBegin, 0);
  return x + settings.log_factor * x * (x - 1) / 2;
}

}  // namespace heatsink::observe
