// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/early_refresh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "heatsink/client/cached_value.h"

namespace heatsink::client {
namespace {

constexpr TimePoint kLoadedAt{std::chrono::seconds(100)};
constexpr TimePoint kExpires = kLoadedAt + std::chrono::seconds(60);

TimePoint at(Nanos took, double random, double factor = 1) {
  return early_refresh_at(kExpires, kLoadedAt, took, factor, random);
}

TEST(EarlyRefresh, IsNeverWhereItIsOff) {
  EXPECT_EQ(at(std::chrono::hours(1), 0.9, 0), TimePoint::max());
}

TEST(EarlyRefresh, IsWithinTheLifeOfTheCopy) {
  EXPECT_EQ(at(Millis(10), 0), kExpires);
  EXPECT_EQ(at(std::chrono::hours(1), 0.999), kLoadedAt);
}

// Exponential, with the duration of a load times the factor as its mean.
TEST(EarlyRefresh, IsSpreadInProportionToTheLoad) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> chance(0, 1);
  double mean = 0;
  std::set<TimePoint> different;
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint due = at(Millis(100), chance(random), 2);
    different.insert(due);
    mean += std::chrono::duration<double>(kExpires - due).count() / 10'000;
  }
  EXPECT_NEAR(mean, 0.2, 0.01);
  EXPECT_GT(different.size(), 9'900U);
}

TEST(EarlyRefresh, IsAskedForByOneReader) {
  const CachedValueOf<int> cached(1);
  EXPECT_TRUE(cached.claim_refresh());
  EXPECT_FALSE(cached.claim_refresh());
}

}  // namespace
}  // namespace heatsink::client
