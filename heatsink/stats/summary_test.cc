// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/summary.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heatsink::stats {
namespace {

TEST(Summary, CountsSumsAndKeepsTheExtremes) {
  Summary summary;
  for (const std::int64_t value : {4, -2, 10}) summary.add(value);
  EXPECT_EQ(summary.count, 3U);
  EXPECT_EQ(summary.sum, 12);
  EXPECT_DOUBLE_EQ(summary.mean(), 4);
  EXPECT_EQ(summary.min, -2);
  EXPECT_EQ(summary.max, 10);
}

TEST(Summary, OfNothingIsZero) {
  const Summary summary;
  EXPECT_EQ(summary.mean(), 0);
  EXPECT_EQ(summary.quantile(0.5), 0);
}

TEST(Summary, SumsPastSixtyFourBits) {
  Summary summary;
  for (int i = 0; i < 4; ++i) summary.add(INT64_MAX);
  EXPECT_EQ(summary.sum, Sum{INT64_MAX} * 4);
}

// The middle of a bucket may be a number larger than any that was seen.
TEST(Summary, QuantilesStayWithinTheExtremes) {
  Summary summary;
  summary.add(1'000'001);
  summary.add(1'000'002);
  EXPECT_EQ(summary.quantile(0), 1'000'001);
  EXPECT_GE(summary.quantile(0.5), 1'000'001);
  EXPECT_LE(summary.quantile(0.99), 1'000'002);
  EXPECT_EQ(summary.quantile(1), 1'000'002);
}

TEST(Summary, Merges) {
  Summary a, b, none;
  a.add(5);
  b.add(-5);
  b.add(50);
  a.merge(b);
  a.merge(none);
  EXPECT_EQ(a.count, 3U);
  EXPECT_EQ(a.sum, 50);
  EXPECT_EQ(a.min, -5);
  EXPECT_EQ(a.max, 50);
  none.merge(a);
  EXPECT_EQ(none, a);
}

}  // namespace
}  // namespace heatsink::stats
