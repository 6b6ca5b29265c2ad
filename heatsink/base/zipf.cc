// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/zipf.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace heatsink {
namespace {

// (e^t - 1) / t and ln(1 + t) / t, also near 0, where the division would lose all digits: with an
// exponent of 1, t is exactly 0.
double expm1_over(double t) { return std::abs(t) < 1e-8 ? 1 + t / 2 : std::expm1(t) / t; }
double log1p_over(double t) { return std::abs(t) < 1e-8 ? 1 - t / 2 : std::log1p(t) / t; }

}  // namespace

Zipf::Zipf(std::uint64_t ranks, double exponent)
    : ranks_(static_cast<double>(ranks)), exponent_(exponent) {
  assert(ranks >= 1 && exponent >= 0);
  integral_first_ = integral(1.5) - 1;
  integral_last_ = integral(ranks_ + 0.5);
  accept_below_ = 2 - integral_inverse(integral(2.5) - density(2));
}

std::optional<std::uint64_t> Zipf::draw(std::uint64_t bits) const {
  const double unit = static_cast<double>(bits >> 11U) * 0x1.0p-53;  // [0, 1)
  const double y = integral_last_ + unit * (integral_first_ - integral_last_);
  const double x = integral_inverse(y);
  const double k = std::clamp(std::floor(x + 0.5), 1.0, ranks_);
  if (k - x > accept_below_ && y < integral(k + 0.5) - density(k)) return std::nullopt;
  return static_cast<std::uint64_t>(k) - 1;
}

double Zipf::density(double x) const { return std::exp(-exponent_ * std::log(x)); }

double Zipf::integral(double x) const {
  const double log_x = std::log(x);
  return expm1_over((1 - exponent_) * log_x) * log_x;
}

double Zipf::integral_inverse(double y) const {
  // Rounding may push the argument slightly below -1, where the logarithm ends.
  const double t = std::max((1 - exponent_) * y, -1.0);
  return std::exp(log1p_over(t) * y);
}

}  // namespace heatsink
