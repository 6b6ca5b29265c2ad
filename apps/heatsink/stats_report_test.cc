// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/stats_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

using testing::HasSubstr;

NamedReading sample() {
  NamedReading one{"checkout\x1b", {}};
  for (int i = 1; i <= 40; ++i) one.reading.summary.add(i);
  one.reading.covered = Millis(20'000);
  one.reading.slot = Millis(1000);
  one.reading.length = Millis(60'000);
  return one;
}

TEST(StatsReport, OneStatistic) {
  EXPECT_EQ(stats_text(sample()),
            "checkout\\x1b: last 20 s, in steps of 1s; kept for 1m\ncount                   40   "
            "2/s\nsum                    820\nmean                  20.5\nmin                      "
            "1\np50                     20\np90                     36\np99                     "
            "40\nmax                     40\n");
}

TEST(StatsReport, NoNumbersHaveNoQuantiles) {
  NamedReading one = sample();
  one.reading.summary = {};
  EXPECT_THAT(stats_text(one), testing::EndsWith("sum                      0\n"));
  EXPECT_THAT(stats_json(one), HasSubstr("\"min\":null"));
  EXPECT_THAT(stats_table({one}), HasSubstr(" 0\n"));
}

TEST(StatsReport, WhatIsMissingIsSaid) {
  NamedReading one = sample();
  one.reading.shards_missing = 1;
  one.reading.problem = "the server said \"LOADING\"";
  const char* said = "1 of 4 parts could not be read, so their numbers are missing: the server";
  EXPECT_THAT(stats_text(one), HasSubstr(said));
  EXPECT_THAT(stats_table({one}), HasSubstr(said));
  EXPECT_THAT(stats_json(one), HasSubstr("\"shards_missing\":1"));
}

TEST(StatsReport, ATable) {
  EXPECT_EQ(
      stats_table({sample()}),
      "name                          count     per s       mean        p50        p90        "
      "p99        max\n"
      "checkout\\x1b                     40         2       20.5         20         36         "
      "40         40\n");
}

TEST(StatsReport, LargeSumsAreWhole) {
  NamedReading one = sample();
  for (int i = 0; i < 3; ++i) one.reading.summary.add(INT64_MIN);
  EXPECT_THAT(stats_text(one), HasSubstr(" -27670116110564326604\n"));
}

TEST(StatsReport, Json) {
  EXPECT_THAT(
      stats_json(sample()),
      HasSubstr("\"name\":\"checkout\\\\x1b\",\"name_base64\":\"Y2hlY2tvdXQb\",\"count\":40,"
                "\"sum\":820,"));
  EXPECT_THAT(stats_json(std::vector<NamedReading>{}), "{\"statistics\":[]}\n");
}

}  // namespace
}  // namespace heatsink::app
