// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace heatsink::stats {
namespace {

TEST(Buckets, CoverAllMagnitudesWithoutGapOrOverlap) {
  std::uint64_t next = 0;
  for (std::uint32_t bucket = 0; bucket < kBucketsEachSign; ++bucket) {
    const BucketRange range = range_of(bucket);
    ASSERT_EQ(range.low, next) << bucket;
    ASSERT_EQ(bucket_of(range.low), bucket);
    ASSERT_EQ(bucket_of(range.low + range.width - 1), bucket);
    next = range.low + range.width;
  }
  EXPECT_EQ(next, std::uint64_t{1} << 63U);
  EXPECT_EQ(bucket_of(std::uint64_t{1} << 63U), kBucketsEachSign - 1);
}

TEST(Histogram, OfNothingIsNothing) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_TRUE(histogram.buckets().empty());
}

TEST(Histogram, SmallNumbersAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 63; ++i) histogram.add(i);
  EXPECT_EQ(histogram.quantile(0), 1);
  EXPECT_EQ(histogram.quantile(32.0 / 63), 32);
  EXPECT_EQ(histogram.quantile(1), 63);
}

TEST(Histogram, AnyNumberHasAPlace) {
  Histogram histogram;
  for (const std::int64_t value :
       {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, INT64_MAX})
    histogram.add(value);
  EXPECT_EQ(histogram.count(), 6U);
  EXPECT_LT(histogram.quantile(0), -9e18);
  EXPECT_GT(histogram.quantile(1), 9e18);
  EXPECT_LT(histogram.memory_bytes(), 4000U);
}

rc::Gen<std::vector<std::int64_t>> numbers() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(rc::gen::oneOf(
      rc::gen::inRange<std::int64_t>(-100, 100),
      rc::gen::inRange<std::int64_t>(-100'000, 10'000'000), rc::gen::arbitrary<std::int64_t>())));
}

Histogram histogram_of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t value : values) histogram.add(value);
  return histogram;
}

RC_GTEST_PROP(Histogram, QuantilesAreOffByTheStatedErrorAtMost, ()) {
  std::vector<std::int64_t> values = *numbers();
  const Histogram histogram = histogram_of(values);
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double rank = std::ceil(q * static_cast<double>(values.size()));
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
    const auto told = static_cast<double>(histogram.quantile(q));
    RC_ASSERT(std::abs(told - exact) <= kErrorMax * std::abs(exact));
  }
}

RC_GTEST_PROP(Histogram, MergesInAnyOrder, ()) {
  const std::vector<std::int64_t> a = *numbers(), b = *numbers();
  std::vector<std::int64_t> both = a;
  both.insert(both.end(), b.begin(), b.end());
  Histogram ab = histogram_of(a), ba = histogram_of(b);
  ab.merge(histogram_of(b));
  ba.merge(histogram_of(a));
  RC_ASSERT(ab == histogram_of(both));
  RC_ASSERT(ba == histogram_of(both));
}

TEST(Histogram, ClearedIsAsNew) {
  Histogram histogram = histogram_of({1, 1000, -7});
  histogram.clear();
  EXPECT_EQ(histogram, Histogram());
}

}  // namespace
}  // namespace heatsink::stats
