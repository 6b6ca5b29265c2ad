// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace heatsink::observe {
namespace {

// As the server counts: evict.c, one decay per minute.
int counter_after(double per_minute, int minutes, double log_factor, std::mt19937_64& random) {
  std::uniform_real_distribution<double> part(0, 1);
  std::poisson_distribution<int> accesses(per_minute);
  int counter = kLfuBegin;
  for (int minute = 0; minute < minutes; ++minute) {
    for (int left = accesses(random); left > 0; --left) {
      const double p = 1 / (std::max(counter - kLfuBegin, 0) * log_factor + 1);
      if (counter < kLfuMost && part(random) < p) ++counter;
    }
    counter = std::max(counter - 1, 0);
  }
  return counter;
}

TEST(LfuRate, BoundsContainASteadyRate) {
  std::mt19937_64 random(1);
  for (const double per_minute : {30.0, 100.0, 600.0}) {
    int within = 0;
    constexpr int kRuns = 200;
    for (int i = 0; i < kRuns; ++i) {
      const RateBounds bounds = lfu_rate(counter_after(per_minute, 300, 10, random), {});
      within += bounds.low <= per_minute / 60 && per_minute / 60 <= bounds.high ? 1 : 0;
    }
    EXPECT_GE(within, kRuns * 95 / 100) << per_minute;
  }
}

TEST(LfuRate, AFullCounterHasNoUpperBound) {
  const RateBounds bounds = lfu_rate(255, {});
  EXPECT_TRUE(std::isinf(bounds.high));
  EXPECT_NEAR(bounds.rate, 41.7, 0.1);
  EXPECT_GT(bounds.low, 35);
}

TEST(LfuRate, ANewKeyOrAnIdleOneHasNone) {
  EXPECT_EQ(lfu_rate(5, {}).rate, 0);
  EXPECT_EQ(lfu_rate(0, {}).low, 0);
  EXPECT_GT(lfu_rate(5, {}).high, 0);
}

TEST(LfuRate, WithoutDecayThereIsNoRate) {
  const RateBounds bounds = lfu_rate(100, {.decay_minutes = 0});
  EXPECT_EQ(bounds.low, 0);
  EXPECT_TRUE(std::isinf(bounds.high));
}

// redis.conf's own table: factor 10 and 1000 hits give 18, factor 1 and 100 K hits are past 255.
TEST(LfuAccesses, AreThoseOfTheServersTable) {
  EXPECT_NEAR(lfu_accesses(18, {}), 1000, 250);
  EXPECT_LT(lfu_accesses(255, {.log_factor = 1}), 100'000);
}

}  // namespace
}  // namespace heatsink::observe
