// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace heatsink::observe {
namespace {

// As the server counts: evict.c.
int accessed(int counter, int times, double log_factor, std::mt19937_64& random) {
  std::uniform_real_distribution<double> part(0, 1);
  for (; times > 0; --times) {
    const double p = 1 / (std::max(counter - kLfuBegin, 0) * log_factor + 1);
    if (counter < kLfuMost && part(random) < p) ++counter;
  }
  return counter;
}

int after_a_minute(int counter) { return std::max(counter - 1, 0); }

int counter_after(double per_minute, int minutes, double log_factor, std::mt19937_64& random) {
  std::poisson_distribution<int> accesses(per_minute);
  int counter = kLfuBegin;
  for (int minute = 0; minute < minutes; ++minute)
    counter = after_a_minute(accessed(counter, accesses(random), log_factor, random));
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

// Only the last minute has raised the counter, of a key that was new or forgotten.
TEST(LfuRate, BoundsContainTheLastMinuteOfANewKey) {
  std::mt19937_64 random(2);
  for (const int times : {1, 3, 60, 1200, 20'000}) {
    int within = 0;
    double high = 0;
    constexpr int kRuns = 500;
    for (int i = 0; i < kRuns; ++i) {
      const int counter = after_a_minute(accessed(i % (kLfuBegin + 1), times, 10, random));
      const RateBounds bounds = lfu_rate(counter, {});
      within += times <= bounds.high * 60 ? 1 : 0;
      high += bounds.high * 60 / kRuns;
    }
    EXPECT_GE(within, kRuns * 99 / 100) << times;
    EXPECT_LT(high, 4 * times + 60) << times;  // and they are of use
  }
}

TEST(LfuRate, WhatIsFromBeforeProvesNothingOfNow) {
  int counter = 200;
  for (int minute = 0; minute < 60; ++minute) counter = after_a_minute(counter);
  const RateBounds bounds = lfu_rate(counter, {});
  EXPECT_GT(bounds.rate, 20);
  EXPECT_EQ(bounds.low, 0);
}

TEST(LfuRate, AFullCounterHasNoUpperBound) {
  const RateBounds bounds = lfu_rate(255, {});
  EXPECT_TRUE(std::isinf(bounds.high));
  EXPECT_NEAR(bounds.rate, 41.7, 0.1);
  EXPECT_TRUE(std::isinf(lfu_rate(254, {}).high));  // it was full before it lost one
  EXPECT_FALSE(std::isinf(lfu_rate(253, {}).high));
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
