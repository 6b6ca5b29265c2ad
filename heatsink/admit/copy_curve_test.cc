// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "heatsink/admit/chooser.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::admit {
namespace {

constexpr Nanos kHour = std::chrono::hours(1);
constexpr Choice kThirdRead{.reads = 3, .history = 2, .order = EvictionOrder::kClock};

std::vector<CopyCurve::Point> curve_of_zipf(CopyCurve& curve, std::uint64_t mask) {
  Random random(5);
  const Zipf zipf(100'000, 0.9);
  curve.follow(kThirdRead);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t key = Random(zipf.rank(random)).next();
    if (Chooser::is_sampled(KeyHash{key}, mask))
      curve.read(static_cast<std::uint32_t>(key), TimePoint{}, kHour);
  }
  return curve.points({.fill = 1});
}

TEST(CopyCurve, SaysNothingBeforeItHasSeenEnough) {
  CopyCurve curve(1000, 500);
  curve.follow(kThirdRead);
  EXPECT_TRUE(curve.points({}).empty());
  for (std::uint32_t i = 0; i < 2000; ++i) curve.read(i % 7, TimePoint{}, kHour);
  EXPECT_TRUE(curve.points({}).empty());
  for (std::uint32_t i = 0; i < 20'000; ++i) curve.read(i % 7, TimePoint{}, kHour);
  EXPECT_FALSE(curve.points({}).empty());
}

TEST(CopyCurve, MoreCopiesSaveMore) {
  CopyCurve curve(4096, 4096);
  const std::vector<CopyCurve::Point> points = curve_of_zipf(curve, 0);
  ASSERT_EQ(points.size(), 7U);
  EXPECT_EQ(points.front().copies, 256U);
  EXPECT_EQ(points.back().copies, 16'384U);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GT(points[i].saved, points[i - 1].saved);
}

// The sample has one key in eight, and miniatures of an eighth of the copies.
TEST(CopyCurve, ASampleOfTheKeysSaysNearlyTheSame) {
  CopyCurve whole(4096, 4096);
  CopyCurve sampled(4096, 512);
  const std::vector<CopyCurve::Point> exact = curve_of_zipf(whole, 0);
  const std::vector<CopyCurve::Point> estimated = curve_of_zipf(sampled, 7);
  ASSERT_EQ(estimated.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(estimated[i].copies, exact[i].copies);
    EXPECT_NEAR(estimated[i].saved, exact[i].saved, 0.05) << exact[i].copies << " copies";
  }
}

TEST(CopyCurve, BeginsAnewForAnotherChoice) {
  CopyCurve curve(1000, 500);
  EXPECT_FALSE(curve_of_zipf(curve, 0).empty());
  curve.follow(kThirdRead);
  EXPECT_FALSE(curve.points({}).empty());
  curve.follow({.reads = 1, .history = 2, .order = EvictionOrder::kSieve});
  EXPECT_TRUE(curve.points({}).empty());
}

TEST(CopyCurve, WritesAndCostsCount) {
  CopyCurve read_only(64, 64);
  CopyCurve written(64, 64);
  for (CopyCurve* curve : {&read_only, &written}) curve->follow(kThirdRead);
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    read_only.read(i % 10, TimePoint{}, kHour);
    written.read(i % 10, TimePoint{}, kHour);
    if (i % 100 == 99) written.write(i / 100 % 10);
  }
  EXPECT_NEAR(read_only.points({.fill = 5}).back().saved, 1, 0.01);
  EXPECT_NEAR(written.points({.fill = 5, .end = 5}).back().saved, 1 - 0.01 * (1 + 5 + 5), 0.01);
}

}  // namespace
}  // namespace heatsink::admit
