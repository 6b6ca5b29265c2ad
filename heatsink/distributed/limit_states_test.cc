// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/limit_states.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/distributed/times_for_test.h"

namespace heatsink::distributed {
namespace {

TEST(LimitStates, AKeyHasOne) {
  LimitStates states(100);
  const auto one = states.find("p:", "a");
  EXPECT_EQ(one->key, "p:a");
  EXPECT_EQ(states.find("p:", "a"), one);
  EXPECT_NE(states.find("p:", "b"), one);
  EXPECT_EQ(states.size(), 2U);
}

TEST(LimitStates, TheLongestUnusedGoes) {
  LimitStates states(16 * 10);
  const auto kept = states.find("", "kept");
  const std::weak_ptr<LimitState> gone = states.find("", "gone");
  for (int i = 0; i < 10'000; ++i) {
    states.find("", std::to_string(i));
    states.find("", "kept");
  }
  EXPECT_EQ(states.find("", "kept"), kept);
  EXPECT_TRUE(gone.expired());
  EXPECT_LE(states.size(), 160U);
}

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
