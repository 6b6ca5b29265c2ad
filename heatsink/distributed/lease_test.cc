// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heatsink/distributed/times_for_test.h"

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;

constexpr LeaseTerms kTerms{.held_max = 100, .lasts = 200ms};

TEST(Lease, WhatWasPaidForIsSpentOnce) {
  Lease lease;
  EXPECT_EQ(lease.spend(1, kNow), Lease::Spent::kNo);
  lease.add(3, kTerms, kNow, kNow);
  EXPECT_NE(lease.spend(2, kNow), Lease::Spent::kNo);
  EXPECT_EQ(lease.spend(2, kNow), Lease::Spent::kNo);
  EXPECT_NE(lease.spend(1, kNow), Lease::Spent::kNo);
  EXPECT_EQ(lease.spend(1, kNow), Lease::Spent::kNo);
}

TEST(Lease, EndsAfterItsTimeCountedFromThePayment) {
  Lease lease;
  lease.add(3, kTerms, kNow, kNow + 50ms);
  EXPECT_EQ(lease.held(kNow + 199ms), 3U);
  EXPECT_EQ(lease.held(kNow + 200ms), 0U);
  EXPECT_EQ(lease.spend(1, kNow + 200ms), Lease::Spent::kNo);
  EXPECT_EQ(lease.add(5, kTerms, kNow + 300ms, kNow + 300ms), 3U);  // so many lapsed
  EXPECT_EQ(lease.held(kNow + 300ms), 5U);
}

TEST(Lease, OneBuysAtATime) {
  Lease lease;
  EXPECT_TRUE(lease.begin_buying());
  EXPECT_FALSE(lease.begin_buying());
  lease.end_buying();
  EXPECT_TRUE(lease.begin_buying());
}

// Asks as a limiter does, every `gap`, all granted; how often it had to buy in the time.
int purchases(Lease& lease, Nanos gap, Nanos in, TimePoint& now) {
  int count = 0;
  for (const TimePoint end = now + in; now < end; now += gap) {
    const Lease::Spent spent = lease.spend(1, now);
    if (spent == Lease::Spent::kYes) continue;
    ++count;
    const std::uint64_t n = spent == Lease::Spent::kNo ? 1 : 0;
    lease.add(lease.batch(n, kTerms, now), kTerms, now, now);
  }
  return count;
}

TEST(Lease, BatchesGrowToWhatIsSpentInHalfItsTime) {
  Lease lease;
  TimePoint now = kNow;
  purchases(lease, 2ms, 1s, now);
  // 50 in 100 ms; the next is bought at half, so twice as often.
  const int in_a_second = purchases(lease, 2ms, 1s, now);
  EXPECT_GE(in_a_second, 8);
  EXPECT_LE(in_a_second, 40);
  EXPECT_TRUE(lease.is_in_use());
}

TEST(Lease, ARareAskBuysNothingAhead) {
  Lease lease;
  TimePoint now = kNow;
  for (int i = 0; i < 20; ++i, now += 1s) {
    EXPECT_EQ(lease.spend(1, now), Lease::Spent::kNo);
    const std::uint64_t batch = lease.batch(1, kTerms, now);
    EXPECT_EQ(batch, 0U);
    lease.add(batch, kTerms, now, now);
  }
}

TEST(Lease, TwoCallsThatHappenToBeCloseTakeFew) {
  Lease lease;
  lease.add(lease.batch(1, kTerms, kNow), kTerms, kNow, kNow);
  EXPECT_LE(lease.batch(1, kTerms, kNow + 1us), 2U);
}

TEST(Lease, NeverHoldsMoreThanItsTermsAllow) {
  Lease lease;
  TimePoint now = kNow;
  for (int i = 0; i < 20'000; ++i, now += 10us) {
    const Lease::Spent spent = lease.spend(1, now);
    if (spent == Lease::Spent::kYes) continue;
    const std::uint64_t n = spent == Lease::Spent::kNo ? 1 : 0;
    lease.add(lease.batch(n, kTerms, now), kTerms, now, now);
    ASSERT_LE(lease.held(now), kTerms.held_max);
  }
  EXPECT_GT(lease.held(now), kTerms.held_max / 4);
}

TEST(Lease, WhatOthersSpentDirectlyIsDemandToo) {
  const auto second_batch = [](std::uint64_t direct) {
    Lease lease;
    TimePoint now = kNow;
    for (int i = 0; i < 6; ++i, now += 100ms)  // one in half a lease's time
      lease.add(lease.batch(1, kTerms, now), kTerms, now, now);
    lease.spent_directly(direct);
    return lease.batch(1, kTerms, now);
  };
  EXPECT_GT(second_batch(40), second_batch(0));
}

TEST(Lease, ThreadsSpendEachTokenOnce) {
  Lease lease;
  lease.add(10'000, {.held_max = 10'000, .lasts = 1h}, kNow, kNow);
  std::atomic<int> spent{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5000; ++n)
        if (lease.spend(1, kNow) != Lease::Spent::kNo) ++spent;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(spent, 10'000);
}

}  // namespace
}  // namespace heatsink::distributed
