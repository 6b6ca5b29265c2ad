// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/moment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heatsink::heat {
namespace {

detect::KeyCount counted(std::string name, std::uint64_t low, std::uint64_t high) {
  detect::KeyCount key;
  key.key = std::move(name);
  key.low = low;
  key.high = high;
  key.reads = low;
  key.hits = low / 2;
  return key;
}

detect::Summary ten_seconds() {
  detect::Summary summary;
  summary.at = TimePoint(std::chrono::seconds(100));
  summary.window = summary.covered = std::chrono::seconds(10);
  summary.covers_window = true;
  summary.requests = 1000;
  summary.reads = 900;
  summary.writes = 100;
  summary.hits = 450;
  summary.absent_max = 7;
  return summary;
}

std::string as_it_is(std::string_view name) { return std::string(name); }

TEST(Moment, RatesArePerSecondOfTheWindow) {
  detect::Summary summary = ten_seconds();
  summary.keys = {counted("product:1", 500, 510)};
  summary.bytes = 30'000;
  summary.keys[0].bytes = 20'000;
  const Moment moment = moment_of(summary, as_it_is, false);
  EXPECT_EQ(moment.at, summary.at);
  EXPECT_DOUBLE_EQ(moment.totals.requests, 100);
  EXPECT_DOUBLE_EQ(moment.totals.hits, 45);
  ASSERT_EQ(moment.items.size(), 1U);
  EXPECT_EQ(moment.items[0].identity, (Identity{Kind::kKey, 0, false, "product:1"}));
  EXPECT_DOUBLE_EQ(moment.items[0].rate, 50);
  EXPECT_DOUBLE_EQ(moment.items[0].hits, 25);
  EXPECT_DOUBLE_EQ(moment.items[0].bytes, 2000);
  EXPECT_DOUBLE_EQ(moment.totals.bytes, 3000);
  EXPECT_DOUBLE_EQ(moment.unnamed_max[0], 0.7);
  EXPECT_TRUE(std::isnan(moment.unnamed_max[1])) << "templates are not counted";
}

TEST(Moment, ItNamesTheBusiestAndBoundsTheOthers) {
  detect::Summary summary = ten_seconds();
  for (std::uint64_t i = 0; i < 100; ++i)
    summary.keys.push_back(counted("key:" + std::to_string(i), 900 - i, 1000 - i));
  const Moment moment = moment_of(summary, as_it_is, false);
  EXPECT_EQ(moment.items.size(), kPerMoment[0]);
  EXPECT_DOUBLE_EQ(moment.unnamed_max[0], 93.6) << "what the first one left out may have had";
}

TEST(Moment, NamesAreShownAsTheOperatorWants) {
  detect::Summary summary = ten_seconds();
  summary.keys = {counted("user:42", 500, 510)};
  summary.templates.emplace();
  summary.templates->list = {counted("user:*", 700, 700)};
  const Moment hidden = moment_of(
      summary, [](std::string_view) { return std::string("key#1"); }, true);
  ASSERT_EQ(hidden.items.size(), 1U);
  EXPECT_EQ(hidden.items[0].identity.name, "key#1");
  const Moment shown = moment_of(summary, as_it_is, false);
  ASSERT_EQ(shown.items.size(), 2U);
  EXPECT_EQ(shown.items[1].identity.kind, Kind::kTemplate);
}

TEST(Moment, ALongNameIsCut) {
  detect::Summary summary = ten_seconds();
  summary.keys = {counted(std::string(1000, 'x'), 500, 510)};
  const Moment moment = moment_of(summary, as_it_is, false);
  EXPECT_EQ(moment.items[0].identity.name.size(), Identity::kBytesMax);
  EXPECT_TRUE(moment.items[0].identity.is_cut);
}

TEST(Moment, NamesWithTheSameBeginningAreOneRow) {
  detect::Summary summary = ten_seconds();
  const std::string same(Identity::kBytesMax, 'x');
  summary.keys = {counted("busy", 600, 600), counted(same + "1", 500, 510),
                  counted(same + "2", 300, 320), counted(same, 200, 200)};
  const Moment moment = moment_of(summary, as_it_is, false);
  ASSERT_EQ(moment.items.size(), 3U);
  EXPECT_EQ(moment.items[0].identity.name, same) << "the busiest first";
  EXPECT_TRUE(moment.items[0].identity.is_cut);
  EXPECT_DOUBLE_EQ(moment.items[0].rate, 80);
  EXPECT_DOUBLE_EQ(moment.items[0].rate_high, 83);
  EXPECT_DOUBLE_EQ(moment.items[0].hits, 40);
  EXPECT_FALSE(moment.items[2].identity.is_cut) << "the whole name is another";
}

TEST(Moment, ASummaryOfNoTimeIsEmpty) {
  const Moment moment = moment_of(detect::Summary{}, as_it_is, false);
  EXPECT_TRUE(moment.items.empty());
  EXPECT_EQ(moment.totals.requests, 0);
}

}  // namespace
}  // namespace heatsink::heat
