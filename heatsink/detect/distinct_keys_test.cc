// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/distinct_keys.h"

#include <gtest/gtest.h>

#include <random>

namespace heatsink::detect {
namespace {

constexpr TimePoint kFirstSeen{std::chrono::seconds(100)};
constexpr Nanos kWindow = std::chrono::seconds(10);

TEST(DistinctSketch, IsEmptyAtFirstAndKnowsOneFromTwo) {
  DistinctSketch sketch;
  EXPECT_EQ(sketch.estimate(), 0);
  sketch.add(0);
  EXPECT_NEAR(sketch.estimate(), 1, 0.01);
  sketch.add(0);
  EXPECT_NEAR(sketch.estimate(), 1, 0.01);
  sketch.add(UINT64_MAX);
  EXPECT_NEAR(sketch.estimate(), 2, 0.01);
}

// Four standard errors; of 20 draws each, so the mean must be much nearer.
TEST(DistinctSketch, ErrsByAFewPercentWhateverTheNumber) {
  std::mt19937_64 random(1);
  for (const int keys : {10, 200, 1000, 3000, 10'000, 300'000}) {
    double mean = 0;
    for (int draw = 0; draw < 20; ++draw) {
      DistinctSketch sketch;
      for (int i = 0; i < keys; ++i) sketch.add(random());
      EXPECT_NEAR(sketch.estimate() / keys, 1, 4 * 0.033) << keys;
      mean += sketch.estimate() / keys / 20;
    }
    EXPECT_NEAR(mean, 1, 0.04) << keys;
  }
}

TEST(DistinctSketch, MergedKnowsWhatEitherHasSeenOnce) {
  std::mt19937_64 random(2);
  DistinctSketch a, b, both;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t hash = random();
    if (i < 2000) a.add(hash);
    if (i >= 1000) b.add(hash);
    both.add(hash);
  }
  a.merge(b);
  EXPECT_EQ(a.estimate(), both.estimate());
}

TEST(DistinctKeys, ForgetWhatHasLeftTheWindow) {
  SlotClock clock(kWindow, 10);
  DistinctKeys keys;
  const auto at = [&](TimePoint now) {
    if (clock.due(now)) keys.move(clock.move_to(now), clock.position());
    return clock.position().slot;
  };
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) keys.add(random(), at(kFirstSeen));
  keys.add(1, at(kFirstSeen + kWindow / 2));
  EXPECT_NEAR(keys.window().estimate(), 101, 12);
  at(kFirstSeen + kWindow);
  EXPECT_NEAR(keys.window().estimate(), 1, 0.01);
  at(kFirstSeen + 2 * kWindow);
  EXPECT_EQ(keys.window().estimate(), 0);
}

}  // namespace
}  // namespace heatsink::detect
