// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/paced_timers.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

constexpr Nanos kMuchLater = std::chrono::hours(1);

TEST(PacedTimers, EachRunsAtItsOwnPeriod) {
  net::EventLoop loop;
  PacedTimers timers(loop, kMuchLater);
  int quick = 0, never = 0;
  timers.every(Millis(1), [&] { ++quick; });
  timers.every(kMuchLater, [&] { ++never; });
  while (quick < 3) loop.turn(kMuchLater);
  EXPECT_EQ(never, 0);
}

TEST(PacedTimers, SlowOnesShareATimerAndWakeAllAtOnce) {
  net::EventLoop loop;
  PacedTimers timers(loop, Millis(2));
  int quick = 0, other = 0;
  timers.every(Millis(1), [&] { ++quick; });
  timers.every(kMuchLater, [&] { ++other; });
  timers.slow_down();
  EXPECT_TRUE(timers.slow());
  while (other < 3) loop.turn(kMuchLater);
  EXPECT_EQ(quick, 3);
  timers.wake();
  EXPECT_FALSE(timers.slow());
  EXPECT_EQ(other, 4) << "at once";
  EXPECT_EQ(quick, 4);
  timers.wake();
  EXPECT_EQ(other, 4) << "they are awake";
  while (quick < 8) loop.turn(kMuchLater);
  EXPECT_EQ(other, 4);
}

TEST(PacedTimers, OneMayWakeThemAndSlowThemDown) {
  net::EventLoop loop;
  PacedTimers timers(loop, Millis(1));
  int calls = 0;
  timers.every(kMuchLater, [&] {
    ++calls;
    if (calls == 2) timers.wake();  // wake() calls it once more
    if (calls == 3) timers.slow_down();
  });
  timers.slow_down();
  while (calls < 5) loop.turn(kMuchLater);
  EXPECT_TRUE(timers.slow());
}

TEST(PacedTimers, AnotherPeriodCountsAtOnce) {
  net::EventLoop loop;
  PacedTimers timers(loop, kMuchLater);
  int calls = 0;
  const std::size_t timer = timers.every(kMuchLater, [&] { ++calls; });
  timers.change(timer, Millis(1));
  while (calls < 3) loop.turn(kMuchLater);
  timers.slow_down();
  timers.change(timer, Millis(2));
  timers.wake();
  while (calls < 6) loop.turn(kMuchLater);
  EXPECT_FALSE(timers.slow());
}

}  // namespace
}  // namespace heatsink::copies
