// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/judge_pace.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

TEST(JudgePace, RestsAsLongAsItHasTaken) {
  JudgePace pace;
  EXPECT_FALSE(pace.is_asked());
  pace.ask();
  EXPECT_TRUE(pace.is_asked());
  EXPECT_LE(pace.from(), at(0)) << "the first time at once";
  pace.begin(at(0));
  EXPECT_FALSE(pace.is_asked());
  pace.end(at(30));
  EXPECT_EQ(pace.from(), at(60));
}

TEST(JudgePace, RestsNoLongerThanTheMaximum) {
  JudgePace pace;
  pace.begin(at(0));
  pace.end(at(1000));
  EXPECT_EQ(pace.from(), at(1000) + JudgePace::kPauseMax);
}

TEST(JudgePace, AskedMeanwhileItJudgesAgain) {
  JudgePace pace;
  pace.ask();
  pace.begin(at(0));
  pace.ask();
  pace.end(at(1));
  EXPECT_TRUE(pace.is_asked());
}

}  // namespace
}  // namespace heatsink::copies
