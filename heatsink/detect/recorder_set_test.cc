// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder_set.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "heatsink/detect/access_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

Access access_of(const std::string& key, AccessKind kind, std::uint32_t bytes, bool hit = false) {
  return {.hash = in_db(hash_name(key, 7), 0),
          .key = key,
          .kind = kind,
          .local_hit = hit,
          .bytes = bytes};
}

TEST(RecorderSet, EachMeasureHasItsOwnWindowAndUnit) {
  const std::array<MeasureOptions, 4> measures{{
      {{.window = seconds(10), .dimension = Dimension::kRequests}, UINT64_MAX},
      {{.window = seconds(1), .dimension = Dimension::kBytes}, UINT64_MAX},
      {{.window = seconds(10), .dimension = Dimension::kWrites}, UINT64_MAX},
      {{.window = seconds(10), .dimension = Dimension::kMisses}, UINT64_MAX},
  }};
  RecorderSet set(RecorderOptions{}, measures);
  for (int second = 0; second < 5; ++second) {
    const TimePoint now = kStart + seconds(second);
    for (int i = 0; i < 3; ++i) set.record(access_of("a", AccessKind::kRead, 700), now);
    set.record(access_of("a", AccessKind::kRead, 700, true), now);
    set.record(access_of("b", AccessKind::kWrite, 50), now);
  }
  const std::vector<Summary> summaries = set.summarize(kStart + seconds(4), 10);
  ASSERT_EQ(summaries.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(summaries[i].dimension, measures[i].measure.dimension);
    EXPECT_EQ(summaries[i].window, measures[i].measure.window);
  }
  EXPECT_EQ(summaries[0].requests, 25u);
  EXPECT_EQ(summaries[0].keys.at(0).low, 20u);
  EXPECT_EQ(summaries[0].keys.at(1).low, 5u);
  EXPECT_EQ(summaries[1].requests, 5u);
  EXPECT_EQ(summaries[1].total(), 2850u);
  EXPECT_EQ(summaries[1].keys.at(0).low, 2800u);
  EXPECT_EQ(summaries[1].keys.at(1).low, 50u);
  // Nothing but b is written: reads do not admit a key here.
  ASSERT_EQ(summaries[2].keys.size(), 1u);
  EXPECT_EQ(summaries[2].keys[0].key, "b");
  EXPECT_EQ(summaries[2].keys[0].low, 5u);
  EXPECT_EQ(summaries[2].total(), 5u);
  ASSERT_EQ(summaries[3].keys.size(), 1u);
  EXPECT_EQ(summaries[3].keys[0].low, 15u);
  EXPECT_EQ(summaries[3].total(), 15u);
}

TEST(RecorderSet, UrgentInAnyMeasureIsUrgent) {
  const std::array<MeasureOptions, 2> measures{
      {{{}, UINT64_MAX}, {{.dimension = Dimension::kBytes}, 10'000}}};
  RecorderSet set(RecorderOptions{}, measures);
  bool urgent = set.record(access_of("a", AccessKind::kRead, 9999), kStart);
  urgent |= set.drain(kStart);
  EXPECT_FALSE(urgent);
  urgent = set.record(access_of("a", AccessKind::kRead, 1), kStart);
  urgent |= set.drain(kStart);
  EXPECT_TRUE(urgent);
}

TEST(RecorderSet, FloorsAreByMeasure) {
  const std::array<MeasureOptions, 2> measures{
      {{{}, UINT64_MAX}, {{.dimension = Dimension::kBytes}, UINT64_MAX}}};
  RecorderSet set(RecorderOptions{}, measures);
  set.record(access_of("a", AccessKind::kRead, 1000), kStart);
  set.record(access_of("b", AccessKind::kRead, 10), kStart);
  set.record(access_of("b", AccessKind::kRead, 10), kStart);
  const std::array<CountLevel, 2> floors{2, 500};
  const std::vector<Summary> summaries = set.summarize(kStart, 10, floors);
  ASSERT_EQ(summaries[0].keys.size(), 1u);
  EXPECT_EQ(summaries[0].keys[0].key, "b");
  ASSERT_EQ(summaries[1].keys.size(), 1u);
  EXPECT_EQ(summaries[1].keys[0].key, "a");
}

TEST(RecorderSet, MemoryIsDivided) {
  const std::array<MeasureOptions, 2> measures{
      {{{}, UINT64_MAX}, {{.dimension = Dimension::kBytes}, UINT64_MAX}}};
  EXPECT_LE(RecorderSet(RecorderOptions{}, measures).memory_bytes(), 2'500'000u);
  EXPECT_GE(RecorderSet(RecorderOptions{}, measures).memory_bytes(), 2'400'000u);
}

TEST(RecorderSet, AMeasureThatStaysKeepsItsCounts) {
  const MeasureOptions requests{{.dimension = Dimension::kRequests}, UINT64_MAX};
  const MeasureOptions bytes{{.dimension = Dimension::kBytes}, UINT64_MAX};
  const MeasureOptions writes{{.dimension = Dimension::kWrites}, UINT64_MAX};
  RecorderSet set(RecorderOptions{}, std::array{requests, bytes});
  set.record(access_of("a", AccessKind::kRead, 100), kStart);
  set.reconfigure(std::array{requests, writes, bytes});
  set.record(access_of("a", AccessKind::kWrite, 10), kStart);
  const std::vector<Summary> summaries = set.summarize(kStart, 10);
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_EQ(summaries[0].requests, 2u);
  EXPECT_EQ(summaries[1].requests, 1u) << "this one is new";
  EXPECT_EQ(summaries[2].keys.at(0).low, 110u);
  EXPECT_LE(set.memory_bytes(), RecorderOptions{}.memory_bytes * 25 / 12 + 10'000);
}

TEST(RecorderSet, AnotherLevelCountsAtOnce) {
  MeasureOptions requests{{}, UINT64_MAX};
  RecorderSet set(RecorderOptions{}, std::array{requests});
  for (int i = 0; i < 5; ++i) set.record(access_of("a", AccessKind::kRead, 1), kStart);
  EXPECT_FALSE(set.drain(kStart));
  requests.urgent_count = 10;
  set.reconfigure(std::array{requests});
  bool urgent = false;
  for (int i = 0; i < 10; ++i)
    urgent |= set.record(access_of("b", AccessKind::kRead, 1), kStart + seconds(1));
  urgent |= set.drain(kStart + seconds(1));
  EXPECT_TRUE(urgent);
}

TEST(RecorderSet, OnlyTheFirstMeasureCountsTemplatesAndBeginsAnew) {
  const MeasureOptions first{{.window = seconds(10)}, UINT64_MAX};
  const MeasureOptions second{{.window = seconds(1)}, UINT64_MAX};
  RecorderSet set(RecorderOptions{.template_bytes = 100'000}, std::array{first, second});
  set.record(access_of("user:1", AccessKind::kRead, 1), kStart);
  set.reconfigure(std::array{second, first});
  std::vector<Summary> summaries = set.summarize(kStart, 10);
  EXPECT_TRUE(summaries[0].templates.has_value());
  EXPECT_FALSE(summaries[1].templates.has_value());
  EXPECT_EQ(summaries[0].requests, 0u);
  EXPECT_EQ(summaries[1].requests, 0u);
}

}  // namespace
}  // namespace heatsink::detect
