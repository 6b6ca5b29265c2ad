// SPDX-License-Identifier: Apache-2.0
// Tokens given back count as never taken, in all algorithms; and forget() resets a limiter.
#include <gtest/gtest.h>

#include <chrono>

#include "heatsink/base/testing/times.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

class GiveBack : public testing::TestWithParam<Algorithm> {
 protected:
  std::unique_ptr<Limiter> limiter =
      make_limiter({.algorithm = GetParam(), .rate = {10, 1s}, .burst = 10}).value();
};

TEST_P(GiveBack, CanBeTakenAgainAndNoMore) {
  ASSERT_TRUE(limiter->try_acquire(10, kStart).allowed);
  limiter->give_back(3, kStart);
  EXPECT_FALSE(limiter->try_acquire(4, kStart).allowed);
  EXPECT_TRUE(limiter->try_acquire(3, kStart).allowed);
  EXPECT_FALSE(limiter->try_acquire(1, kStart).allowed);
}

TEST_P(GiveBack, AfterALongTimeGivesNothing) {
  ASSERT_TRUE(limiter->try_acquire(5, kStart).allowed);
  limiter->give_back(5, kStart);
  EXPECT_EQ(limiter->try_acquire(0, kStart + 10s).remaining, 10U);
  EXPECT_FALSE(limiter->try_acquire(11, kStart + 10s).allowed);
}

TEST_P(GiveBack, ForgettingIsAsNew) {
  ASSERT_TRUE(limiter->try_acquire(10, kStart).allowed);
  ASSERT_FALSE(limiter->try_acquire(1, kStart).allowed);
  limiter->forget();
  EXPECT_EQ(limiter->try_acquire(0, kStart).remaining, 10U);
  EXPECT_TRUE(limiter->try_acquire(10, kStart).allowed);
  EXPECT_FALSE(limiter->try_acquire(1, kStart).allowed);
}

INSTANTIATE_TEST_SUITE_P(Limiters, GiveBack,
                         testing::Values(Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                         Algorithm::kLeakyBucket, Algorithm::kTokenBucket));

// The window that it was taken in is over: the one of now has its count, and no more.
TEST(GiveBackLate, AWindowThatIsOverTakesNothingBack) {
  for (const Algorithm algorithm : {Algorithm::kFixedWindow, Algorithm::kSlidingWindow}) {
    auto limiter = make_limiter({.algorithm = algorithm, .rate = {10, 1s}}).value();
    ASSERT_TRUE(limiter->try_acquire(10, kStart).allowed);
    ASSERT_TRUE(limiter->try_acquire(10, kStart + 3s).allowed);
    limiter->give_back(10, kStart);
    EXPECT_FALSE(limiter->try_acquire(1, kStart + 3s).allowed) << to_string(algorithm);
  }
}

}  // namespace
}  // namespace heatsink::limit
