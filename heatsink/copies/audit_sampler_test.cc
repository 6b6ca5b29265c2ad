// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/audit_sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

TEST(AuditSampler, TakesItsPartOfTheHits) {
  AuditSampler sampler(Share{0.01}, Nanos(0), 1);
  int taken = 0;
  for (int i = 0; i < 1'000'000; ++i) taken += sampler.pass(1) && sampler.take(kStart) ? 1 : 0;
  EXPECT_GT(taken, 9'500);
  EXPECT_LT(taken, 10'500);
}

TEST(AuditSampler, TakesEachHitIfTold) {
  AuditSampler sampler(Share{1}, Nanos(0), 1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(sampler.pass(1) && sampler.take(kStart));
}

TEST(AuditSampler, OffTakesNone) {
  AuditSampler sampler(Share{0}, Nanos(0), 1);
  for (int i = 0; i < 1'000'000; ++i) ASSERT_FALSE(sampler.pass(1));
}

TEST(AuditSampler, GapsDiffer) {
  AuditSampler sampler(Share{0.01}, Nanos(0), 1);
  std::set<int> gaps;
  int gap = 0;
  for (int i = 0; i < 10'000; ++i) {
    ++gap;
    if (!sampler.pass(1)) continue;
    sampler.take(kStart);
    gaps.insert(gap);
    gap = 0;
  }
  EXPECT_GT(gaps.size(), 40u);
  EXPECT_LT(*gaps.rbegin(), 201);
}

TEST(AuditSampler, NoMoreThanSoManyPerSecondHoweverManyHits) {
  AuditSampler sampler(Share{1}, Millis(100), 1);
  int taken = 0;
  for (int i = 0; i < 1'000'000; ++i)
    taken += sampler.pass(1) && sampler.take(kStart + std::chrono::microseconds(10 * i)) ? 1 : 0;
  EXPECT_GT(taken, 90);  // in 10 s
  EXPECT_LT(taken, 110);
}

}  // namespace
}  // namespace heatsink::copies
