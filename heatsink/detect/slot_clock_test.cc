// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/slot_clock.h"

#include <gtest/gtest.h>

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SlotClock, SlotsAreAlignedToTheClockNotToTheStart) {
  SlotClock clock(seconds(10), 10);
  const SlotClock::Move first = clock.move_to(TimePoint(milliseconds(25'900)));
  EXPECT_EQ(first.turns, 0u);
  EXPECT_EQ(clock.position().turn, 25u);
  EXPECT_EQ(clock.position().slot, 5u);
  EXPECT_FALSE(clock.due(TimePoint(milliseconds(25'999))));
  EXPECT_TRUE(clock.due(TimePoint(seconds(26))));
}

TEST(SlotClock, TellsTurnsAndLapsAndCapsThem) {
  SlotClock clock(seconds(10), 10);
  clock.move_to(TimePoint(seconds(25)));
  SlotClock::Move move = clock.move_to(TimePoint(seconds(28)));
  EXPECT_EQ(move.turns, 3u);
  EXPECT_EQ(move.laps, 0u);
  move = clock.move_to(TimePoint(seconds(31)));
  EXPECT_EQ(move.turns, 3u);
  EXPECT_EQ(move.laps, 1u);
  move = clock.move_to(TimePoint(seconds(1000)));
  EXPECT_EQ(move.turns, 10u);
  EXPECT_EQ(move.laps, 2u);
}

TEST(SlotClock, AStepBackStandsStill) {
  SlotClock clock(seconds(10), 10);
  clock.move_to(TimePoint(seconds(25)));
  EXPECT_FALSE(clock.due(TimePoint(seconds(24))));
  EXPECT_FALSE(clock.due(TimePoint(seconds(0))));
}

TEST(SlotClock, CoveredGrowsToTheWindowAndCountsThePartialSlot) {
  SlotClock clock(seconds(10), 10);
  clock.move_to(TimePoint(milliseconds(25'900)));
  EXPECT_EQ(clock.covered(TimePoint(milliseconds(25'950))), milliseconds(50));
  clock.move_to(TimePoint(milliseconds(30'000)));
  EXPECT_EQ(clock.covered(TimePoint(milliseconds(30'100))), milliseconds(4'200));
  clock.move_to(TimePoint(milliseconds(60'000)));
  EXPECT_EQ(clock.covered(TimePoint(milliseconds(60'400))), milliseconds(9'400));
}

}  // namespace
}  // namespace heatsink::detect
