// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/key_loads.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr KeyHash kLoaded{7};
constexpr Nanos kLoadsWindow = seconds(10);

TimePoint second(int number) { return TimePoint(seconds(number)); }

TEST(KeyLoads, AddsUpByKey) {
  KeyLoads loads;
  loads.add(kLoaded, 1);
  loads.add(kLoaded, 1);
  loads.add(kLoaded, -kCommandsPerFill);
  loads.add({8}, 1);
  EXPECT_EQ(loads.of(kLoaded), 0);
  EXPECT_EQ(loads.of({8}), 1);
  EXPECT_EQ(loads.of({9}), 0);
}

TEST(KeyLoads, FillsThatSpareNothingAreNegative) {
  KeyLoads loads;
  for (int i = 0; i < 3; ++i) loads.add(kLoaded, -kCommandsPerFill);
  EXPECT_EQ(loads.of(kLoaded), -6);
}

TEST(KeyLoads, WhatIsOlderThanTheWindowLeaves) {
  KeyLoads loads;
  loads.move(second(0), kLoadsWindow);
  loads.add(kLoaded, 5);
  loads.move(second(4), kLoadsWindow);
  loads.add(kLoaded, 7);
  loads.move(second(9), kLoadsWindow);
  EXPECT_EQ(loads.of(kLoaded), 12);
  loads.move(second(10), kLoadsWindow);
  EXPECT_EQ(loads.of(kLoaded), 7);
  loads.move(second(14), kLoadsWindow);
  EXPECT_EQ(loads.of(kLoaded), 0);
}

TEST(KeyLoads, ALongPauseEmptiesIt) {
  KeyLoads loads;
  loads.move(second(0), kLoadsWindow);
  loads.add(kLoaded, 5);
  loads.move(second(1000), kLoadsWindow);
  EXPECT_EQ(loads.of(kLoaded), 0);
  loads.add(kLoaded, 2);
  loads.move(second(1009), kLoadsWindow);
  EXPECT_EQ(loads.of(kLoaded), 2);
}

TEST(KeyLoads, TellsTheTimeThatItCovers) {
  KeyLoads loads;
  EXPECT_EQ(loads.covered(second(3)), Nanos(0)) << "it has not begun";
  loads.move(second(3), kLoadsWindow);
  EXPECT_EQ(loads.covered(second(5)), seconds(2)) << "since it has begun";
  for (int now = 4; now <= 20; ++now) loads.move(second(now), kLoadsWindow);
  EXPECT_EQ(loads.covered(second(20)), seconds(9)) << "nine whole parts, and a new one";
  EXPECT_EQ(loads.covered(second(20) + Millis(600)), seconds(9) + Millis(600));
}

TEST(KeyLoads, WhatIsSparedIsBroughtToTheTimeOfTheHits) {
  KeyLoads loads;
  EXPECT_EQ(loads.spared(kLoaded, 3, 10, second(0)), 3) << "it has not begun";
  loads.move(second(0), kLoadsWindow);
  loads.add(kLoaded, 10);
  EXPECT_EQ(loads.spared(kLoaded, 3, 4, second(8)), 3 + 5) << "half of the time";
  EXPECT_EQ(loads.spared(kLoaded, 3, 10, second(2)), 3 + 11) << "a tenth more at most";
  loads.add(kLoaded, -20);
  EXPECT_EQ(loads.spared(kLoaded, 3, 8, second(8)), 3 - 10) << "fills that spare nothing";
}

TEST(KeyLoads, IsBounded) {
  KeyLoads loads;
  const std::uint64_t stripe = KeyLoads::kStripes;
  for (std::uint64_t i = 0; i <= KeyLoads::kKeysMax; ++i) loads.add({1 + i * stripe}, 1);
  EXPECT_EQ(loads.of({1}), 1);
  EXPECT_EQ(loads.of({1 + KeyLoads::kKeysMax * stripe}), 0) << "no room";
  loads.add({1}, 1);
  EXPECT_EQ(loads.of({1}), 2) << "a known key still counts";
}

}  // namespace
}  // namespace heatsink::copies
