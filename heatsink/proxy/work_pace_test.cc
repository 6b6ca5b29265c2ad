// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/work_pace.h"

#include <gtest/gtest.h>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kTick = Millis(100);

class WorkPaceTest : public ReliefTest {
 protected:
  WorkPaceTest() {
    pass(Nanos(0));  // the loop reads its clock
    pace.begin(kTick, [this] { ++ticks; });
  }
  void turn(Nanos time) {
    pass(time);
    pace.end_turn();
  }

  std::atomic<std::uint32_t> awake{0};
  int woken = 0, ticks = 0;
  WorkPace pace{loop, awake, [this] { ++woken; }};
};

TEST_F(WorkPaceTest, ABusyWorkerTicksOften) {
  EXPECT_EQ(awake, 1U);
  for (int i = 0; i < 3; ++i) turn(kTick);
  EXPECT_EQ(ticks, 3);
  pace.set_tick(2 * kTick);
  for (int i = 0; i < 4; ++i) turn(kTick);
  EXPECT_EQ(ticks, 5);
}

TEST_F(WorkPaceTest, ItIsIdleAfterAWhile) {
  pace.note_work();
  turn(WorkPace::kAwakeFor - Nanos(1));
  EXPECT_FALSE(pace.is_idle());
  turn(Nanos(1));
  EXPECT_TRUE(pace.is_idle());
  EXPECT_EQ(woken, 0) << "it was awake all the time";
}

TEST_F(WorkPaceTest, AWorkerAtRestTicksSlowly) {
  pace.rest();
  pace.rest();
  EXPECT_EQ(awake, 0U);
  for (int i = 0; i < 10; ++i) turn(kTick);
  EXPECT_EQ(ticks, 0);
  turn(WorkPace::kIdlePeriod);
  EXPECT_EQ(ticks, 1);
}

// The keeper hears of it at once, because it has to prove copies again.
TEST_F(WorkPaceTest, WorkWakesItAtTheEndOfTheTurn) {
  pace.rest();
  pace.note_work();
  pace.note_work();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(awake, 1U);
  EXPECT_EQ(ticks, 0);
  pace.end_turn();
  EXPECT_EQ(ticks, 1);
  pace.end_turn();
  EXPECT_EQ(ticks, 1);
  turn(kTick);
  EXPECT_EQ(ticks, 2);
}

}  // namespace
}  // namespace heatsink::proxy
