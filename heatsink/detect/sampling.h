// SPDX-License-Identifier: Apache-2.0
// Samples the accesses of unlisted keys when traffic is too fast to count them all, and bounds the
// error of such counts.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::detect {

// Takes each access with probability 1 / factor, independently of all others and of its key. The
// factor is a power of two, chosen from the rate in the last tenth of a second. Attackers could
// predict "every n-th" or "these hashes". Not thread-safe; has no clock.
class Sampler {
 public:
  static constexpr std::uint32_t kFactorMax = 1024;

  Sampler(std::uint64_t lossless_per_second, std::uint64_t seed)
      : lossless_per_second_(lossless_per_second), random_(seed | 1) {}

  // 1: takes all accesses.
  std::uint32_t factor() const { return factor_; }

  bool takes() noexcept {
    if (mask_ == 0) return true;
    return (next_random() & mask_) == 0;
  }

  // True with probability 2^-bits. REQUIRES: 1 <= bits <= 32.
  bool one_of(unsigned bits) noexcept { return next_random() >> (64 - bits) == 0; }

  // The number of accesses to the next one of a separate sample: 1 .. with mean `factor`.
  std::uint64_t skip(std::uint32_t factor) noexcept;

  std::uint64_t rate() const { return rate_; }  // accesses per second at the last move_to()
  TimePoint next() const { return next_; }      // when move_to() is due

  // `accesses`: the total since construction. May change the factor.
  void move_to(TimePoint now, std::uint64_t accesses) noexcept;

 private:
  // The upper bits of a linear congruential generator modulo 2^64 (multiplier by Knuth).
  std::uint64_t next_random() noexcept {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return random_;
  }

  std::uint64_t lossless_per_second_;
  std::uint64_t random_;
  std::uint64_t mask_ = 0;
  std::uint32_t factor_ = 1;
  TimePoint last_{};
  TimePoint next_ = TimePoint::min();
  std::uint64_t accesses_ = 0;
  std::uint64_t rate_ = 0;
};

// Bounds a true sum T from a sample of it, each bound at a confidence of 1 - 10^-6. S, the sum of
// `factor` x weight over the sample, has mean T and a variance of at most (factor - 1) x weight_max
// x T. Freedman's inequality (Annals of Probability 1975; it is Bernstein's for a factor that
// depends on the past) gives |S - T| <= sqrt(2 L v T) + 2/3 L r with L = ln(10^6), v = (factor - 1)
// weight_max, r = factor x weight_max. The bounds are its solutions for T.
class SampleBounds {
 public:
  SampleBounds(std::uint32_t factor, std::uint32_t weight_max);

  std::uint64_t low(std::uint64_t sampled) const;  // lower bound
  // upper bound; `sampled` itself for a factor of 1
  std::uint64_t high(std::uint64_t sampled) const;

 private:
  double root_;   // sqrt(2 L v)
  double range_;  // 2/3 L r; 0: not sampled
};

}  // namespace heatsink::detect
