// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/fixed_window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <map>

#include "heatsink/limit/start_for_test.h"

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

TEST(FixedWindow, ItsCountPassesAndNotOneMore) {
  FixedWindow window({3, 1s});
  for (std::uint64_t left = 3; left-- > 0;)
    EXPECT_EQ(window.try_acquire(1, kStart + 300ms).remaining, left);
  const Decision fourth = window.try_acquire(1, kStart + 300ms);
  EXPECT_FALSE(fourth.allowed);
  EXPECT_EQ(fourth.retry_after, 700ms);
  EXPECT_TRUE(window.try_acquire(1, kStart + 1s).allowed);
}

TEST(FixedWindow, TwiceItsCountPassesAtABorder) {
  FixedWindow window({3, 1s});
  EXPECT_TRUE(window.try_acquire(3, kStart + 999ms).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart + 1s).allowed);
}

TEST(FixedWindow, MoreThanItsCountIsNever) {
  FixedWindow window({3, 1s});
  EXPECT_EQ(window.try_acquire(4, kStart).retry_after, kNever);
  EXPECT_EQ(window.try_acquire(0, kStart).remaining, 3U);
}

TEST(FixedWindow, AnIdleWindowSavesNothingUp) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(1, kStart).allowed);
  EXPECT_EQ(window.try_acquire(0, kStart + 100s).remaining, 3U);
}

TEST(FixedWindow, AClockThatGoesBackALittleGivesNothing) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(3, kStart + 1s).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart + 999ms).allowed);
  EXPECT_EQ(window.try_acquire(1, kStart + 999ms).retry_after, 1001ms);
}

TEST(FixedWindow, AClockSetBackGoesOnFromThere) {
  FixedWindow window({3, 1s});
  ASSERT_TRUE(window.try_acquire(3, kStart).allowed);
  EXPECT_FALSE(window.try_acquire(1, kStart - 1h).allowed);
  EXPECT_TRUE(window.try_acquire(3, kStart - 1h + 1s).allowed);
}

RC_GTEST_PROP(FixedWindow, IsACountPerWindow, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 20), Millis(*rc::gen::inRange(1, 50))};
  FixedWindow window(rate);
  std::map<std::int64_t, std::uint64_t> model;
  TimePoint now = kStart;
  for (int i = 0; i < 300; ++i) {
    now += Nanos(*rc::gen::inRange<std::int64_t>(0, rate.per.count() / 4));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 5);
    std::uint64_t& used = model[now.time_since_epoch() / rate.per];
    const Decision decision = window.try_acquire(n, now);
    RC_ASSERT(decision.allowed == (used + n <= rate.count));
    if (decision.allowed) used += n;
    RC_ASSERT(decision.remaining == rate.count - used);
  }
}

}  // namespace
}  // namespace heatsink::limit
