// SPDX-License-Identifier: Apache-2.0
// Draws ranks with an exact Zipf distribution: the probability of rank k is as k^-exponent.
#pragma once

#include <cstdint>
#include <optional>

namespace heatsink {

// Rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", ACM TOMACS 6(3), 1996. No table: O(1) memory for any number of
// ranks, and fewer than 1.2 numbers drawn per rank on average. (The generator of Gray et al. 1994
// that YCSB made popular is an approximation, and it excludes an exponent of 1.) Immutable:
// thread-safe.
class Zipf {
 public:
  // REQUIRES: ranks >= 1, exponent >= 0; 0 is the even distribution.
  Zipf(std::uint64_t ranks, double exponent);

  // 0 .. ranks - 1; 0 is the most frequent.
  // Generator: any with 64 bits, such as Random or std::mt19937_64.
  template <class Generator>
  std::uint64_t rank(Generator& random) const {
    static_assert(Generator::min() == 0 && Generator::max() == UINT64_MAX);
    for (;;) {
      if (const std::optional<std::uint64_t> drawn = draw(random())) return *drawn;
    }
  }

 private:
  std::optional<std::uint64_t> draw(std::uint64_t bits) const;  // nothing: draw again
  double density(double x) const;                               // x^-exponent
  double integral(double x) const;                              // of density, with integral(1) = 0
  double integral_inverse(double y) const;

  double ranks_;
  double exponent_;
  double integral_first_;  // the left edge of the sampled area
  double integral_last_;   // the right edge
  double accept_below_;    // closer to the rank than this: accept without computing the density
};

}  // namespace heatsink
