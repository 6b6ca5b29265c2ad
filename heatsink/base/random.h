// SPDX-License-Identifier: Apache-2.0
// Generates random numbers that are the same on all machines for the same seed (SplitMix64).
#pragma once

#include <cstdint>

namespace heatsink {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
// Eight bytes of state, about 1 ns per number; the standard library's distributions may differ
// between compilers, so the conversions are here too. Not thread-safe; not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // The interface of a 64-bit generator of the standard library.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() { return next(); }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

  // Uniform in [0, 1), in steps of 2^-53.
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace heatsink
