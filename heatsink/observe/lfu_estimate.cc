// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_estimate.h"

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <limits>

#include "heatsink/observe/math_policy.h"

namespace heatsink::observe {
namespace {

using Gamma = boost::math::gamma_distribution<double, InDouble>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The number of accesses after which a counter that starts at 0 is above `counter`, except with the
// probability kTail.
double accesses_to_pass(int counter, double log_factor) {
  double mean = 0, variance = 0;
  for (int at = 0; at <= counter; ++at) {
    const double rise = log_factor * std::max(at - kLfuBegin, 0) + 1;  // geometric
    mean += rise;
    variance += rise * (rise - 1);
  }
  if (variance <= 0) return mean;
  const Gamma sum(mean * mean / variance, variance / mean);
  return boost::math::quantile(boost::math::complement(sum, kTail));
}

}  // namespace

RateBounds lfu_rate(int counter, const LfuSettings& settings) {
  if (settings.decay_minutes <= 0) return {0, 0, kInfinity};
  const double f = std::max(settings.log_factor, 0.0);
  const double x = std::max(counter - kLfuBegin, 0);
  const double steady = x > 0 ? lfu_rates_sum(1, x, settings) : 0;
  const bool was_full = counter + 1 >= kLfuMost;
  const double seconds = 60 * settings.decay_minutes;
  return {steady, 0, was_full ? kInfinity : accesses_to_pass(counter + 1, f) / seconds};
}

double lfu_rates_sum(double keys, double steps, const LfuSettings& settings) {
  if (settings.decay_minutes <= 0) return std::numeric_limits<double>::quiet_NaN();
  return (std::max(settings.log_factor, 0.0) * steps + keys) / (60 * settings.decay_minutes);
}

double lfu_accesses(int counter, const LfuSettings& settings) {
  const double x = std::max(counter - kLfuBegin, 0);
  return x + settings.log_factor * x * (x - 1) / 2;
}

}  // namespace heatsink::observe
