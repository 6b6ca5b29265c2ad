// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/pacer.h"

#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

constexpr TimePoint kStart{std::chrono::hours(5)};

int due_by(Pacer& pacer, TimePoint now) {
  int count = 0;
  while (pacer.next(now)) ++count;
  return count;
}

TEST(Pacer, GivesTheRateAndNoMore) {
  Pacer pacer(1000, kStart);
  int count = 0;
  for (int ms = 0; ms < 10'000; ++ms) count += due_by(pacer, kStart + Millis(ms));
  EXPECT_EQ(count, 10'000);
  EXPECT_EQ(pacer.given_up(), 0u);
}

TEST(Pacer, AnOperationIsDueWhenItWasDueNotWhenAsked) {
  Pacer pacer(100, kStart);
  ASSERT_TRUE(pacer.next(kStart));
  EXPECT_FALSE(pacer.next(kStart + Millis(9)));
  EXPECT_EQ(pacer.next(kStart + Millis(500)), kStart + Millis(10));
}

TEST(Pacer, AnOutageIsNotFollowedByAFlood) {
  Pacer pacer(1000, kStart);
  EXPECT_EQ(due_by(pacer, kStart + std::chrono::seconds(60)), 1001);
  EXPECT_EQ(pacer.given_up(), 59'000u);
}

TEST(Pacer, WithoutARateEverythingIsDueNow) {
  Pacer pacer(0, kStart);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pacer.next(kStart), kStart);
}

}  // namespace
}  // namespace heatsink::app
