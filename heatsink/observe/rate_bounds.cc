// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/rate_bounds.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "heatsink/observe/math_policy.h"

namespace heatsink::observe {
namespace {

using ChiSquared = boost::math::chi_squared_distribution<double, InDouble>;
using StudentsT = boost::math::students_t_distribution<double, InDouble>;

// Garwood's lower and upper bound of a Poisson mean, from `count` observed events.
double poisson_low(double count) {
  if (count <= 0) return 0;
  return boost::math::quantile(ChiSquared(2 * count), kTail) / 2;
}

double poisson_high(double count) {
  const ChiSquared distribution(2 * count + 2);
  return boost::math::quantile(boost::math::complement(distribution, kTail)) / 2;
}

struct Sums {
  double seconds = 0;
  double low = 0;
  double high = 0;
};

Sums sums_of(std::span<const WindowCount> windows) {
  Sums sums;
  for (const WindowCount& window : windows) {
    sums.seconds += window.seconds;
    sums.low += window.low;
    sums.high += window.high;
  }
  return sums;
}

// Half the width of Student's interval; 0 with too few windows.
double change(std::span<const WindowCount> windows, double rate, double seconds) {
  if (windows.size() < kWindowsForChange) return 0;
  const auto n = static_cast<double>(windows.size());
  double squares = 0;
  for (const WindowCount& window : windows) {
    const double residual = window.low - rate * window.seconds;
    squares += residual * residual;
  }
  const StudentsT distribution(n - 1);
  const double t = boost::math::quantile(boost::math::complement(distribution, kTail));
  return t * std::sqrt(squares / (n - 1) * n) / seconds;
}

}  // namespace

RateBounds rate_bounds(std::span<const WindowCount> windows, double watched_seconds) {
  const Sums sums = sums_of(windows);
  if (sums.seconds <= 0) return {0, 0, std::numeric_limits<double>::infinity()};
  RateBounds out;
  out.rate = sums.low / sums.seconds;
  const double half = change(windows, out.rate, sums.seconds);
  out.low = std::min(poisson_low(sums.low) / sums.seconds, out.rate - half);
  out.high = std::max(poisson_high(sums.high) / sums.seconds, sums.high / sums.seconds + half);
  const double seen = sums.low / std::max(watched_seconds, sums.seconds);
  out.low = std::clamp(out.low, seen, out.rate);
  return out;
}

}  // namespace heatsink::observe
