// SPDX-License-Identifier: Apache-2.0
// Draws ranks 0 .. n-1 with P(r) ~ 1 / (r+1)^s in O(1) time and memory, for any n: rejection-
// inversion (Hoermann and Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", ACM TOMACS 1996).
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace heatsink::detect::testing {

// REQUIRES: n >= 1, s > 0, s != 1.
class Zipf {
 public:
  Zipf(std::uint64_t n, double s)
      : n_(static_cast<double>(n)),
        s_(s),
        first_(integral(1.5) - 1),
        last_(integral(n_ + 0.5)),
        sure_(2 - inverse(integral(2.5) - std::pow(2.0, -s))) {}

  std::uint64_t operator()(std::mt19937_64& random) const {
    for (;;) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      const double area = last_ + unit * (first_ - last_);
      const double x = inverse(area);
      const double rank = std::fmin(std::fmax(std::floor(x + 0.5), 1), n_);
      if (rank - x <= sure_ || area >= integral(rank + 0.5) - std::pow(rank, -s_)) {
        return static_cast<std::uint64_t>(rank) - 1;
      }
    }
  }

 private:
  double integral(double x) const { return (std::pow(x, 1 - s_) - 1) / (1 - s_); }
  double inverse(double area) const { return std::pow(1 + area * (1 - s_), 1 / (1 - s_)); }

  double n_, s_, first_, last_, sure_;
};

}  // namespace heatsink::detect::testing
