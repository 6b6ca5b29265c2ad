// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_rest.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

constexpr int kAwakeForMs =
    static_cast<int>(std::chrono::duration_cast<Millis>(KeeperRest::kAwakeFor).count());

class KeeperRestTest : public testing::Test {
 protected:
  void look(int ms) {
    rest_.look(
        [this] {
          ++looks_;
          return has_work_ && (works_at_look_ == 0 || works_at_look_ == looks_);
        },
        at(ms));
  }
  bool is_slow() { return rest_.timers().slow(); }

  NodeState shared_{{}, net::RedisUrl{}, 1};
  net::EventLoop loop_;  // never runs
  KeeperRest rest_{shared_, loop_, at(0)};
  bool has_work_ = false;
  int looks_ = 0, works_at_look_ = 0;  // 0: at each
};

TEST_F(KeeperRestTest, RestsSomeSecondsAfterTheLastWork) {
  has_work_ = true;
  look(10'000);
  has_work_ = false;
  look(10'000 + kAwakeForMs - 1);
  EXPECT_FALSE(is_slow());
  EXPECT_FALSE(rest_.rests());
  look(10'000 + kAwakeForMs);
  EXPECT_TRUE(is_slow());
  EXPECT_TRUE(rest_.rests());
}

TEST_F(KeeperRestTest, NeverRestsWithWork) {
  has_work_ = true;
  look(kAwakeForMs);
  look(10 * kAwakeForMs);
  EXPECT_FALSE(is_slow());
}

TEST_F(KeeperRestTest, AWorkerThatWakesUpBetweenTheLooksIsSeen) {
  has_work_ = true;
  works_at_look_ = 2;
  look(kAwakeForMs);
  EXPECT_EQ(looks_, 2);
  EXPECT_FALSE(is_slow());
  EXPECT_FALSE(rest_.rests());
}

TEST_F(KeeperRestTest, WakesAtOnceAndStaysAwakeAWhile) {
  look(kAwakeForMs);
  ASSERT_TRUE(is_slow());
  rest_.wake(at(60'000));
  EXPECT_FALSE(is_slow());
  EXPECT_FALSE(rest_.rests());
  look(60'000 + kAwakeForMs - 1);
  EXPECT_FALSE(is_slow());
  look(60'000 + kAwakeForMs);
  EXPECT_TRUE(is_slow());
}

}  // namespace
}  // namespace heatsink::copies
