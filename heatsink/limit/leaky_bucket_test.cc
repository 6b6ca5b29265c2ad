// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/leaky_bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "heatsink/limit/start_for_test.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

TEST(LeakyBucket, SpreadsABurstEvenly) {
  LeakyBucket bucket({10, 1s}, 3);
  EXPECT_EQ(bucket.try_acquire(1, kStart).wait, 0ns);
  EXPECT_NEAR(static_cast<double>(bucket.try_acquire(1, kStart).wait.count()), 1e8, 8);
  EXPECT_NEAR(static_cast<double>(bucket.try_acquire(1, kStart).wait.count()), 2e8, 8);
  const Decision fourth = bucket.try_acquire(1, kStart);
  EXPECT_FALSE(fourth.allowed);
  EXPECT_NEAR(static_cast<double>(fourth.retry_after.count()), 1e8, 8);
  EXPECT_EQ(fourth.remaining, 0U);
}

TEST(LeakyBucket, AnIdleQueueLetsTheNextGoAtOnce) {
  LeakyBucket bucket({10, 1s}, 3);
  ASSERT_TRUE(bucket.try_acquire(3, kStart).allowed);
  const Decision later = bucket.try_acquire(1, kStart + 10s);
  EXPECT_TRUE(later.allowed);
  EXPECT_EQ(later.wait, 0ns);
}

TEST(LeakyBucket, MoreThanTheQueueHoldsIsNever) {
  LeakyBucket bucket({10, 1s}, 3);
  EXPECT_EQ(bucket.try_acquire(4, kStart).retry_after, kNever);
}

RC_GTEST_PROP(LeakyBucket, WhatPassesBeginsAtItsRateAndWaitsNoLongerThanTheQueue, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 100'000), 1s};
  const auto queue = *rc::gen::inRange<std::uint64_t>(1, 20);
  LeakyBucket bucket(rate, queue);
  const double gap_ns = 1e9 / static_cast<double>(rate.count);
  TimePoint now = kStart, last_begin{};
  for (int i = 0; i < 200; ++i) {
    now += Nanos(static_cast<std::int64_t>(*rc::gen::inRange(0, 200) * 0.01 * gap_ns));
    const Decision decision = bucket.try_acquire(1, now);
    if (!decision.allowed) continue;
    const TimePoint begin = now + decision.wait;
    if (last_begin != TimePoint{})
      RC_ASSERT(static_cast<double>((begin - last_begin).count()) >= gap_ns - 16);
    RC_ASSERT(static_cast<double>(decision.wait.count()) <=
              static_cast<double>(queue - 1) * gap_ns + 16);
    last_begin = begin;
  }
}

TEST(LeakyBucket, AClockSetBackGoesOnFromThere) {
  LeakyBucket bucket({10, 1s}, 2);
  ASSERT_TRUE(bucket.try_acquire(2, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart - 1h).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart - 1h + 101ms).allowed);
}

}  // namespace
}  // namespace heatsink::limit
