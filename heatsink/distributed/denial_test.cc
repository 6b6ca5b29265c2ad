// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/denial.h"

#include <gtest/gtest.h>

#include "heatsink/distributed/times_for_test.h"

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;

TEST(Denial, NothingIsRefusedByItself) { EXPECT_EQ(Denial().refuses(1, kNow), 0ns); }

TEST(Denial, RefusesUntilItsEndAndNotLonger) {
  Denial denial;
  denial.remember(1, kNow + 10ms);
  EXPECT_EQ(denial.refuses(1, kNow), 10ms);
  EXPECT_EQ(denial.refuses(5, kNow + 9ms), 1ms);
  EXPECT_EQ(denial.refuses(1, kNow + 10ms), 0ns);
}

TEST(Denial, FewerMayStillPass) {
  Denial denial;
  denial.remember(5, kNow + 10ms);
  EXPECT_EQ(denial.refuses(4, kNow), 0ns);
  EXPECT_GT(denial.refuses(5, kNow), 0ns);
}

TEST(Denial, AnEarlierEndDoesNotTakeTheLaterOnesPlace) {
  Denial denial;
  denial.remember(1, kNow + 10ms);
  denial.remember(1, kNow + 5ms);
  EXPECT_EQ(denial.refuses(1, kNow), 10ms);
  denial.forget();
  EXPECT_EQ(denial.refuses(1, kNow), 0ns);
}

TEST(Denial, WhatDoesNotFitIsNotRemembered) {
  Denial denial;
  denial.remember(Denial::kCountMax + 1, kNow + 10ms);
  EXPECT_EQ(denial.refuses(Denial::kCountMax + 1, kNow), 0ns);
  denial.remember(Denial::kCountMax, TimePoint::max());
  EXPECT_GT(denial.refuses(1'000'000, kNow), 24h);
}

}  // namespace
}  // namespace heatsink::distributed
