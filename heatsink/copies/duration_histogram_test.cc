// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/duration_histogram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heatsink::copies {
namespace {

constexpr MetricRow kLateRow{"heatsink_late_seconds", MetricKind::kHistogram, "How late."};

// The number of durations of at most `seconds`.
std::uint64_t up_to(const DurationHistogram& histogram, double seconds) {
  for (const MetricBucket& bucket : histogram.sample(kLateRow).buckets) {
    if (bucket.up_to == seconds) return bucket.count;
  }
  ADD_FAILURE() << "no bound of " << seconds << " s";
  return 0;
}

TEST(DurationHistogram, ABoundIsIncluded) {
  DurationHistogram histogram;
  histogram.observe(Nanos(0));
  histogram.observe(Millis(10));
  histogram.observe(Millis(10) + Nanos(1));
  EXPECT_EQ(up_to(histogram, 0.001), 1u);
  EXPECT_EQ(up_to(histogram, 0.01), 2u);
  EXPECT_EQ(up_to(histogram, 0.025), 3u);
}

TEST(DurationHistogram, TheLastBucketHasAll) {
  DurationHistogram histogram;
  histogram.observe(std::chrono::hours(1));
  EXPECT_EQ(up_to(histogram, 10), 0u);
  const MetricSample sample = histogram.sample(kLateRow);
  EXPECT_TRUE(std::isinf(sample.buckets.back().up_to));
  EXPECT_EQ(sample.buckets.back().count, 1u);
  EXPECT_EQ(sample.value, 3600);
  EXPECT_EQ(sample.row, &kLateRow);
}

TEST(DurationHistogram, ThoseOfSeveralThreadsAreOne) {
  DurationHistogram one, other;
  one.observe(Millis(1));
  other.observe(Millis(500));
  other.observe(Nanos(60'000));
  const DurationHistogram* const both[] = {&one, &other};
  const MetricSample sample = DurationHistogram::sample(kLateRow, both);
  EXPECT_DOUBLE_EQ(sample.value, 0.50106);
  EXPECT_EQ(sample.buckets[0].count, 0u);
  EXPECT_EQ(sample.buckets[1].count, 1u);
  EXPECT_EQ(sample.buckets.back().count, 3u);
}

TEST(DurationHistogram, AQuantileIsInterpolatedInItsBucket) {
  DurationHistogram histogram;
  const DurationHistogram* const only[] = {&histogram};
  EXPECT_TRUE(std::isnan(DurationHistogram::quantile(DurationHistogram::counts(only), 0.5)));
  for (int i = 0; i < 4; ++i) histogram.observe(Nanos(700'000));
  EXPECT_DOUBLE_EQ(DurationHistogram::quantile(DurationHistogram::counts(only), 0.5), 0.00075);
  EXPECT_DOUBLE_EQ(DurationHistogram::quantile(DurationHistogram::counts(only), 1), 0.001);
  for (int i = 0; i < 96; ++i) histogram.observe(std::chrono::minutes(1));
  EXPECT_DOUBLE_EQ(DurationHistogram::quantile(DurationHistogram::counts(only), 0.99), 10);
}

}  // namespace
}  // namespace heatsink::copies
