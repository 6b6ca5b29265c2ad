// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/buckets.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, ABurstPassesAtOnceAndNotOneMore) {
  TokenBucket bucket({10, 1s}, 5);
  for (std::uint64_t left = 5; left-- > 0;) {
    const Decision decision = bucket.try_acquire(1, kStart);
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.remaining, left);
    EXPECT_EQ(decision.wait, 0ns);
  }
  const Decision sixth = bucket.try_acquire(1, kStart);
  EXPECT_FALSE(sixth.allowed);
  EXPECT_NEAR(static_cast<double>(sixth.retry_after.count()), 1e8, 8);
  EXPECT_FALSE(bucket.try_acquire(1, kStart + 99ms).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 101ms).allowed);
}

// A limiter that divides by whole seconds gives nothing until the second is full.
TEST(TokenBucket, FillsWithinTheSecond) {
  TokenBucket bucket({1000, 1s}, 1);
  ASSERT_TRUE(bucket.try_acquire(1, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart + 500us).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 1001us).allowed);
}

// A limiter that kept its lock after a refusal would block all later calls.
TEST(TokenBucket, ARefusalLeavesItAsItWas) {
  TokenBucket bucket({1, 1s}, 2);
  ASSERT_TRUE(bucket.try_acquire(2, kStart).allowed);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(bucket.try_acquire(1, kStart).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 1001ms).allowed);
}

TEST(TokenBucket, AllOrNone) {
  TokenBucket bucket({10, 1s}, 5);
  ASSERT_TRUE(bucket.try_acquire(3, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(3, kStart).allowed);
  EXPECT_EQ(bucket.try_acquire(3, kStart).remaining, 2U);
  EXPECT_TRUE(bucket.try_acquire(2, kStart).allowed);
}

TEST(TokenBucket, MoreThanItHoldsIsNever) {
  TokenBucket bucket({10, 1s}, 5);
  const Decision decision = bucket.try_acquire(6, kStart);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.retry_after, kNever);
  EXPECT_EQ(decision.remaining, 5U);
}

TEST(TokenBucket, AskingForNothingTakesNothing) {
  TokenBucket bucket({10, 1s}, 5);
  EXPECT_TRUE(bucket.try_acquire(0, kStart).allowed);
  EXPECT_EQ(bucket.try_acquire(0, kStart).remaining, 5U);
}

TEST(TokenBucket, HoldsNoMoreThanItsBurstAfterAYear) {
  TokenBucket bucket({1000, 1s}, 7);
  EXPECT_TRUE(bucket.try_acquire(7, kStart).allowed);
  EXPECT_EQ(bucket.try_acquire(0, kStart + 24h * 365).remaining, 7U);
}

// Turns are given in the order of asking, one each 100 ms, and none later than 301 ms.
TEST(TokenBucket, PatienceGivesTurns) {
  TokenBucket bucket({10, 1s}, 2, 301ms);
  for (const Nanos turn : {0ns, 0ns, Nanos(100ms), Nanos(200ms), Nanos(300ms)}) {
    const Decision decision = bucket.try_acquire(1, kStart);
    EXPECT_TRUE(decision.allowed);
    EXPECT_NEAR(static_cast<double>(decision.wait.count()), static_cast<double>(turn.count()), 1e3);
  }
  const Decision late = bucket.try_acquire(1, kStart);
  EXPECT_FALSE(late.allowed);
  EXPECT_NEAR(static_cast<double>(late.retry_after.count()), 99e6, 1e3);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 101ms).allowed);
}

// Turns far ahead are no clock that was set back.
TEST(TokenBucket, PatienceMayBeLongerThanTheStandstill) {
  TokenBucket bucket({1, 1s}, 1, 60s + 1ms);
  for (int i = 0; i < 61; ++i) ASSERT_TRUE(bucket.try_acquire(1, kStart).allowed) << i;
  EXPECT_FALSE(bucket.try_acquire(1, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart).allowed);
}

TEST(TokenBucket, OnceAnHour) {
  TokenBucket bucket({1, 1h}, 1);
  EXPECT_TRUE(bucket.try_acquire(1, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart + 1h - 1us).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 1h + 1us).allowed);
}

TEST(TokenBucket, AClockThatStandsStillOrGoesBackGivesNothing) {
  TokenBucket bucket({1000, 1s}, 10);
  ASSERT_TRUE(bucket.try_acquire(10, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart - 500ms).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart + 2ms).allowed);
}

TEST(TokenBucket, AClockSetBackGoesOnFromThereWithNothingFree) {
  TokenBucket bucket({1000, 1s}, 10);
  ASSERT_TRUE(bucket.try_acquire(10, kStart).allowed);
  EXPECT_FALSE(bucket.try_acquire(1, kStart - 1h).allowed);
  EXPECT_TRUE(bucket.try_acquire(1, kStart - 1h + 2ms).allowed);
  EXPECT_FALSE(bucket.try_acquire(10, kStart - 1h + 2ms).allowed);
}

// Against the definition in exact fractions: a level of tokens x per / count, in nanoseconds.
RC_GTEST_PROP(TokenBucket, IsTheExactOneToAFewNanoseconds, ()) {
  __extension__ using Wide = __int128;
  const Rate rate = *rc::gen::element(Rate{1, 1h}, Rate{3, 1s}, Rate{1'000'003, 1s},
                                      Rate{100'000'000, 1s}, Rate{7, 10s});
  const auto burst = *rc::gen::inRange<std::uint64_t>(1, 50);
  TokenBucket bucket(rate, burst);
  const Wide per = rate.per.count(), slack = Wide{8} * static_cast<Wide>(rate.count);
  const double mean_gap = 1e9 / rate.per_second();
  Wide level = 0;
  TimePoint now = kStart;
  for (int i = 0; i < 300; ++i) {
    now += Nanos(static_cast<std::int64_t>(*rc::gen::inRange(0, 300) * 0.01 * mean_gap));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 4);
    const Wide floor = Wide{now.time_since_epoch().count()} * static_cast<Wide>(rate.count);
    const Wide after = std::max(level, floor) + static_cast<Wide>(n) * per;
    const Wide top = floor + static_cast<Wide>(burst) * per;
    if (bucket.try_acquire(n, now).allowed) {
      RC_ASSERT(after <= top + slack);
      level = after;
    } else {
      RC_ASSERT(after > top - slack);
    }
  }
}

RC_GTEST_PROP(TokenBucket, RetryAfterIsWhenItIsAllowed, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 1'000'000), 1s};
  TokenBucket bucket(rate, 10);
  TimePoint now = kStart + Nanos(*rc::gen::inRange(0, 1'000'000'000));
  ASSERT_TRUE(bucket.try_acquire(*rc::gen::inRange<std::uint64_t>(1, 11), now).allowed);
  for (int i = 0; i < 20; ++i) {
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 11);
    const Decision decision = bucket.try_acquire(n, now);
    if (decision.allowed) continue;
    const Nanos early = decision.retry_after - 16ns;
    if (early > 0ns) RC_ASSERT(!bucket.try_acquire(n, now + early).allowed);
    now += decision.retry_after;
    RC_ASSERT(bucket.try_acquire(n, now).allowed);
  }
}

// Adding up rounded intervals would let 3 % too many pass at this rate.
TEST(TokenBucket, DoesNotDrift) {
  TokenBucket bucket({97'000'001, 1s}, 4);
  std::uint64_t passed = 0;
  TimePoint now = kStart;
  for (; now < kStart + 20ms; now += 7ns) passed += bucket.try_acquire(1, now).allowed ? 1U : 0U;
  EXPECT_NEAR(static_cast<double>(passed), 97'000'001 * 0.020 + 4, 2);
}

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
