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
