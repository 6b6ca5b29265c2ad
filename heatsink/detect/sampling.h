// SPDX-License-Identifier: Apache-2.0
// Which accesses of unlisted keys are counted when there are more than can be paid for, and how far
// a count made of a sample may be from the truth.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::detect {

// Each access is taken with probability 1 / factor, independently of all others and of its key;
// the factor is a power of two, chosen from the rate of the tenth of a second before. Neither
// "every n-th" nor "these hashes": both can be aimed at. Not thread-safe; no clock of its own.
class Sampler {
 public:
  static constexpr std::uint32_t kFactorMax = 1024;

  Sampler(std::uint64_t lossless_per_second, std::uint64_t seed)
      : lossless_per_second_(lossless_per_second), random_(seed | 1) {}

  // 1: all are taken.
  std::uint32_t factor() const { return factor_; }

  bool takes() noexcept {
    if (mask_ == 0) return true;
    return (next_random() & mask_) == 0;
  }

  // True one time of 2^bits, at random. REQUIRES: 1 <= bits <= 32.
  bool one_of(unsigned bits) noexcept { return next_random() >> (64 - bits) == 0; }

  // How many accesses to go on, to the next one of a sample of its own: 1 .. with mean `factor`.
  std::uint64_t skip(std::uint32_t factor) noexcept;

  std::uint64_t rate() const { return rate_; }  // accesses per second when last looked at
  TimePoint next() const { return next_; }      // when move_to() is due

  // `accesses`: all that were ever seen. The factor may change.
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

// Bounds of a true sum of which a sample was taken, at a confidence of 1 - 10^-6 for each: S, the
// sum of `factor` x weight over what was taken, has mean T and a variance of at most
// (factor - 1) x weight_max x T. Freedman's inequality (Annals of Probability 1975; Bernstein's for
// a factor that depends on the past) then gives |S - T| <= sqrt(2 L v T) + 2/3 L r with
// L = ln(10^6), v = (factor - 1) weight_max, r = factor x weight_max; solved for T.
class SampleBounds {
 public:
  SampleBounds(std::uint32_t factor, std::uint32_t weight_max);

  std::uint64_t low(std::uint64_t sampled) const;   // at least so much
  std::uint64_t high(std::uint64_t sampled) const;  // at most so much; sampled for a factor of 1

 private:
  double root_;   // sqrt(2 L v)
  double range_;  // 2/3 L r; 0: nothing was sampled
};

}  // namespace heatsink::detect
