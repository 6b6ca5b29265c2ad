// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/prepaid_tokens.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heatsink/distributed/times_for_test.h"

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;

constexpr PrepaidLimits kLimits{.held_max = 100, .lasts = 200ms};

TEST(PrepaidTokens, WhatWasPaidForIsSpentOnce) {
  PrepaidTokens tokens;
  EXPECT_EQ(tokens.spend(1, kNow), PrepaidTokens::Spent::kNo);
  tokens.add(3, kLimits, kNow, kNow);
  EXPECT_NE(tokens.spend(2, kNow), PrepaidTokens::Spent::kNo);
  EXPECT_EQ(tokens.spend(2, kNow), PrepaidTokens::Spent::kNo);
  EXPECT_NE(tokens.spend(1, kNow), PrepaidTokens::Spent::kNo);
  EXPECT_EQ(tokens.spend(1, kNow), PrepaidTokens::Spent::kNo);
}

TEST(PrepaidTokens, EndsAfterItsTimeCountedFromThePayment) {
  PrepaidTokens tokens;
  tokens.add(3, kLimits, kNow, kNow + 50ms);
  EXPECT_EQ(tokens.held(kNow + 199ms), 3U);
  EXPECT_EQ(tokens.held(kNow + 200ms), 0U);
  EXPECT_EQ(tokens.spend(1, kNow + 200ms), PrepaidTokens::Spent::kNo);
  EXPECT_EQ(tokens.add(5, kLimits, kNow + 300ms, kNow + 300ms), 3U);  // so many lapsed
  EXPECT_EQ(tokens.held(kNow + 300ms), 5U);
}

TEST(PrepaidTokens, WhatIsGivenBackIsSpentAgainUntilItEnds) {
  PrepaidTokens tokens;
  tokens.add(3, kLimits, kNow, kNow);
  EXPECT_NE(tokens.spend(3, kNow), PrepaidTokens::Spent::kNo);
  tokens.give_back(2, kNow + 100ms);
  EXPECT_EQ(tokens.held(kNow + 199ms), 2U);
  EXPECT_EQ(tokens.held(kNow + 200ms), 0U);
  tokens.give_back(2, kNow + 200ms);
  EXPECT_EQ(tokens.held(kNow + 200ms), 0U);
}

TEST(PrepaidTokens, OneBuysAtATime) {
  PrepaidTokens tokens;
  EXPECT_TRUE(tokens.begin_buying());
  EXPECT_FALSE(tokens.begin_buying());
  tokens.end_buying();
  EXPECT_TRUE(tokens.begin_buying());
}

// Asks as a limiter does, every `gap`, all granted; how often it had to buy in the time.
int purchases(PrepaidTokens& tokens, Nanos gap, Nanos in, TimePoint& now) {
  int count = 0;
  for (const TimePoint end = now + in; now < end; now += gap) {
    const PrepaidTokens::Spent spent = tokens.spend(1, now);
    if (spent == PrepaidTokens::Spent::kYes) continue;
    ++count;
    const std::uint64_t n = spent == PrepaidTokens::Spent::kNo ? 1 : 0;
    tokens.add(tokens.batch(n, kLimits, now), kLimits, now, now);
  }
  return count;
}

TEST(PrepaidTokens, BatchesGrowToWhatIsSpentInHalfItsTime) {
  PrepaidTokens tokens;
  TimePoint now = kNow;
  purchases(tokens, 2ms, 1s, now);
  // 50 in 100 ms; the next is bought at half, so twice as often.
  const int in_a_second = purchases(tokens, 2ms, 1s, now);
  EXPECT_GE(in_a_second, 8);
  EXPECT_LE(in_a_second, 40);
  EXPECT_TRUE(tokens.is_in_use());
}

TEST(PrepaidTokens, ARareAskBuysNothingAhead) {
  PrepaidTokens tokens;
  TimePoint now = kNow;
  for (int i = 0; i < 20; ++i, now += 1s) {
    EXPECT_EQ(tokens.spend(1, now), PrepaidTokens::Spent::kNo);
    const std::uint64_t batch = tokens.batch(1, kLimits, now);
    EXPECT_EQ(batch, 0U);
    tokens.add(batch, kLimits, now, now);
  }
}

TEST(PrepaidTokens, TwoCallsThatHappenToBeCloseTakeFew) {
  PrepaidTokens tokens;
  tokens.add(tokens.batch(1, kLimits, kNow), kLimits, kNow, kNow);
  EXPECT_LE(tokens.batch(1, kLimits, kNow + 1us), 2U);
}

TEST(PrepaidTokens, NeverHoldsMoreThanItsTermsAllow) {
  PrepaidTokens tokens;
  TimePoint now = kNow;
  for (int i = 0; i < 20'000; ++i, now += 10us) {
    const PrepaidTokens::Spent spent = tokens.spend(1, now);
    if (spent == PrepaidTokens::Spent::kYes) continue;
    const std::uint64_t n = spent == PrepaidTokens::Spent::kNo ? 1 : 0;
    tokens.add(tokens.batch(n, kLimits, now), kLimits, now, now);
    ASSERT_LE(tokens.held(now), kLimits.held_max);
  }
  EXPECT_GT(tokens.held(now), kLimits.held_max / 4);
}

TEST(PrepaidTokens, WhatOthersSpentDirectlyIsDemandToo) {
  const auto second_batch = [](std::uint64_t direct) {
    PrepaidTokens tokens;
    TimePoint now = kNow;
    for (int i = 0; i < 6; ++i, now += 100ms)  // one in half a lease's time
      tokens.add(tokens.batch(1, kLimits, now), kLimits, now, now);
    tokens.spent_directly(direct);
    return tokens.batch(1, kLimits, now);
  };
  EXPECT_GT(second_batch(40), second_batch(0));
}

TEST(PrepaidTokens, ThreadsSpendEachTokenOnce) {
  PrepaidTokens tokens;
  tokens.add(10'000, {.held_max = 10'000, .lasts = 1h}, kNow, kNow);
  std::atomic<int> spent{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5000; ++n)
        if (tokens.spend(1, kNow) != PrepaidTokens::Spent::kNo) ++spent;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(spent, 10'000);
}

}  // namespace
}  // namespace heatsink::distributed
