// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/summary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

Summary summary_of(const std::vector<std::int64_t>& values) {
  Summary summary;
  for (const std::int64_t value : values) summary.add(value);
  return summary;
}

RC_GTEST_PROP(StatsWire, ReadsBackTheSame, (const std::vector<std::int64_t>& values)) {
  const Summary summary = summary_of(values);
  RC_ASSERT(decode(encode(summary)).value() == summary);
}

RC_GTEST_PROP(StatsWire, IsTheSameForTheSameNumbers, (std::vector<std::int64_t> values)) {
  const std::string one = encode(summary_of(values));
  std::reverse(values.begin(), values.end());
  RC_ASSERT(encode(summary_of(values)) == one);
}

TEST(StatsWire, AThousandfoldTakesAKilobyte) {
  Summary summary;
  for (std::int64_t value = 100; value < 100'000; ++value) summary.add(value);
  EXPECT_LT(encode(summary).size(), 1100U);
}

RC_GTEST_PROP(StatsWire, ACutOffOneIsRefused, (const std::vector<std::int64_t>& values)) {
  const std::string bytes = encode(summary_of(values));
  const auto kept = *rc::gen::inRange<std::size_t>(0, bytes.size());
  RC_ASSERT(!decode(std::string_view(bytes).substr(0, kept)).ok());
}

TEST(StatsWire, RefusesWhatContradictsItself) {
  Summary wrong = summary_of({1, 2, 3});
  wrong.count = 4;
  EXPECT_FALSE(decode(encode(wrong)).ok());
  wrong = summary_of({1, 2, 3});
  wrong.sum = 10;  // more than three times the largest
  EXPECT_FALSE(decode(encode(wrong)).ok());
  wrong = summary_of({1, 2, 3});
  wrong.max = 2;
  EXPECT_FALSE(decode(encode(wrong)).ok());
  EXPECT_FALSE(decode(encode(summary_of({1})) + '\0').ok());
  EXPECT_FALSE(decode(std::string("\2") + encode(summary_of({1})).substr(1)).ok());
  EXPECT_FALSE(decode(std::string(kWireBytesMax + 1, '\1')).ok());
}

TEST(StatsWire, TheLargestOneFits) {
  Summary summary;
  for (std::uint32_t bucket = 0; bucket < kBucketsEachSign; ++bucket)
    for (const bool negative : {false, true}) {
      const auto low = static_cast<std::int64_t>(range_of(bucket).low);
      summary.add(negative ? -low : low);
    }
  EXPECT_LE(encode(summary).size(), kWireBytesMax);
  EXPECT_EQ(decode(encode(summary)).value(), summary);
}

}  // namespace

}  // namespace heatsink::stats
