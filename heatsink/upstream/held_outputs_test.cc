// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/held_outputs.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using std::chrono::microseconds;

class HeldOutputsTest : public ::testing::Test {
 protected:
  // The sessions whose output goes out at the end of this turn.
  std::vector<std::uint64_t> end_turn(Nanos later) {
    now_ += later;
    std::vector<std::uint64_t> sent;
    held_.end_turn(now_, [&](std::uint64_t session, TimePoint) { sent.push_back(session); });
    return sent;
  }
  using Sessions = std::vector<std::uint64_t>;

  TimePoint now_{std::chrono::hours(1)};
  HeldOutputs held_;
};

TEST_F(HeldOutputsTest, AnOutputWaitsForTwoMoreTurnsOfSomeTime) {
  held_.hold(7, now_);
  EXPECT_EQ(end_turn(Nanos(0)), Sessions{}) << "the turn that has sent the requests";
  EXPECT_EQ(end_turn(microseconds(1100)), Sessions{}) << "the server answers in this one";
  EXPECT_EQ(end_turn(microseconds(1)), Sessions{7});
  EXPECT_TRUE(held_.empty());
}

TEST_F(HeldOutputsTest, ShortTurnsDoNotEndTheWait) {
  held_.hold(7, now_);
  for (int turn = 0; turn < 25; ++turn) EXPECT_EQ(end_turn(microseconds(39)), Sessions{}) << turn;
  EXPECT_EQ(end_turn(microseconds(25)), Sessions{7});
}

TEST_F(HeldOutputsTest, ALongTurnEndsIt) {
  held_.hold(7, now_);
  EXPECT_EQ(end_turn(microseconds(2000)), Sessions{7});
}

TEST_F(HeldOutputsTest, EachHasItsOwnTime) {
  held_.hold(7, now_);
  EXPECT_EQ(end_turn(microseconds(1200)), Sessions{});
  held_.hold(8, now_);
  EXPECT_EQ(end_turn(microseconds(900)), Sessions{7});
  EXPECT_EQ(end_turn(microseconds(1100)), Sessions{8});
}

TEST_F(HeldOutputsTest, WhatIsHeldDuringASendWaitsItsTurn) {
  held_.hold(7, now_);
  now_ += microseconds(2000);
  held_.end_turn(now_, [&](std::uint64_t, TimePoint) { held_.hold(9, now_); });
  EXPECT_FALSE(held_.empty());
  EXPECT_EQ(end_turn(Nanos(0)), Sessions{});
}

}  // namespace
}  // namespace heatsink::proxy
