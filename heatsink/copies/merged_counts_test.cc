// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/merged_counts.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr detect::Measure kReads{seconds(10), detect::Dimension::kRequests};
constexpr detect::Measure kVolume{seconds(10), detect::Dimension::kBytes};
constexpr detect::Measure kLongReads{seconds(60), detect::Dimension::kRequests};

detect::Summary counted(const detect::Measure& measure, const std::string& key,
                        std::uint64_t accesses) {
  detect::Summary summary;
  summary.window = summary.covered = measure.window;
  summary.dimension = measure.dimension;
  summary.covers_window = true;
  summary.requests = summary.reads = accesses;
  detect::KeyCount count;
  count.hash = KeyHash{std::hash<std::string>{}(key)};
  count.key = key;
  count.low = count.high = count.reads = accesses;
  summary.keys = {count};
  return summary;
}

TEST(MergedCounts, AddsUpTheLatestCountsOfEachWorker) {
  const detect::Measure measures[] = {kReads};
  MergedCounts counts(measures, 2);
  EXPECT_FALSE(counts.has_accesses());
  counts.take(0, counted(kReads, "k", 1000));
  counts.take(0, counted(kReads, "k", 30));  // replaces the one before
  counts.take(1, counted(kReads, "k", 20));
  EXPECT_EQ(counts.of_all().requests, 0U) << "not merged yet";
  counts.merge();
  EXPECT_EQ(counts.of_all().requests, 50U);
  ASSERT_EQ(counts.of_all().keys.size(), 1U);
  EXPECT_EQ(counts.of_all().keys.front().low, 50U);
  EXPECT_TRUE(counts.has_accesses());
}

TEST(MergedCounts, EachMeasureHasItsWindow) {
  const detect::Measure measures[] = {kReads, kVolume};
  MergedCounts counts(measures, 1);
  counts.take(0, counted(kVolume, "k", 7));
  counts.merge();
  EXPECT_EQ(counts.windows()[0].requests, 0U);
  EXPECT_EQ(counts.windows()[1].requests, 7U);
  EXPECT_DOUBLE_EQ(counts.seconds(kVolume), 10);
  EXPECT_DOUBLE_EQ(counts.seconds(kLongReads), 0) << "no rule counts so";
}

TEST(MergedCounts, CountsByRulesThatAreGoneAreDropped) {
  const detect::Measure measures[] = {kReads};
  MergedCounts counts(measures, 1);
  counts.take(0, counted(kLongReads, "k", 7));
  counts.merge();
  EXPECT_FALSE(counts.has_accesses());
}

TEST(MergedCounts, AChangeOfTheRulesKeepsTheCountsOfMeasuresThatStay) {
  const detect::Measure before[] = {kReads, kVolume};
  MergedCounts counts(before, 2);
  counts.take(0, counted(kReads, "k", 7));
  counts.take(1, counted(kVolume, "k", 9));
  counts.merge();
  const detect::Measure after[] = {kLongReads, kVolume};
  counts.follow(after);
  ASSERT_EQ(counts.windows().size(), 2U);
  EXPECT_EQ(counts.windows()[0].requests, 0U);
  EXPECT_EQ(counts.windows()[1].requests, 9U) << "merged at once";
  counts.take(1, counted(kLongReads, "k", 5));
  counts.merge();
  EXPECT_EQ(counts.windows()[0].requests, 5U);
}

}  // namespace
}  // namespace heatsink::copies
