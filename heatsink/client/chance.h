// SPDX-License-Identifier: Apache-2.0
// Draws the random numbers that spread refreshes in time.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>

namespace heatsink::client {

// Any thread; a lock per draw. The same seed and order of draws give the same numbers.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  double draw() {  // in [0, 1)
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
};

}  // namespace heatsink::client
