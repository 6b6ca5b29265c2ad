// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace heatsink::copies {
namespace {

using testing::EndsWith;
using testing::MatchesRegex;

TEST(Counters, EachHasOneRowInOrder) {
  std::size_t i = 0;
  for (const CountRow& row : count_rows()) EXPECT_EQ(static_cast<std::size_t>(row.count), i++);
}

TEST(Counters, RowsAreFitForPrometheus) {
  std::set<std::pair<std::string, std::string>> series;
  std::map<std::string, std::string> help;
  for (const CountRow& row : count_rows()) {
    const std::string name(row.metric.name);
    EXPECT_THAT(name, MatchesRegex("heatsink_[a-z_]+_total"));
    EXPECT_THAT(std::string(row.metric.help), EndsWith(".")) << name;
    EXPECT_EQ(std::string(row.label).empty(), std::string(row.label_value).empty()) << name;
    EXPECT_EQ(row.metric.labels, row.label) << name;
    EXPECT_TRUE(series.emplace(name, row.label_value).second) << name << " stands there twice";
    EXPECT_EQ(help.emplace(name, row.metric.help).first->second, row.metric.help) << name;
  }
}

TEST(Counters, SamplesCarryTheSumOfTheirRow) {
  MetricSamples samples;
  append_samples(samples, [](Count count) { return static_cast<std::uint64_t>(count) + 1; });
  ASSERT_EQ(samples.size(), static_cast<std::size_t>(Count::kCount));
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].value, static_cast<double>(i + 1));
}

TEST(Counters, Count) {
  Counters counters;
  counters.add(Count::kFills);
  counters.add(Count::kFills, 4);
  EXPECT_EQ(counters.read(Count::kFills), 5u);
  EXPECT_EQ(counters.read(Count::kFlushes), 0u);
}

}  // namespace
}  // namespace heatsink::copies
