// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/report.h"

#include <gtest/gtest.h>

#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/fleet_for_test.h"

namespace heatsink::fleet {
namespace {

CountsForTest many(std::size_t count) {
  CountsForTest counts;
  for (std::size_t i = 0; i < count; ++i) counts.emplace_back("k" + std::to_string(i), 1000 - i);
  return counts;
}

TEST(FleetReport, HasTheBusiestKeysAndBoundsTheOthers) {
  const detect::Summary window = window_for_test(many(80), 1'000'000, 3);
  const Message report = make_report({&window, 1}, nullptr);
  ASSERT_EQ(report.windows.size(), 1U);
  EXPECT_EQ(report.windows[0].keys.size(), kReportKeys);
  EXPECT_EQ(report.windows[0].absent_max, 1000 - kReportKeys);
  EXPECT_EQ(report.windows[0].requests, 1'000'000U);
}

TEST(FleetReport, SaysWhatItKnowsOfEachKeyOfTheList) {
  const detect::Summary window = window_for_test(many(80), 1'000'000, 3);
  Message list;
  list.windows.push_back(window_for_test({{"k70", 5}, {"elsewhere", 9}}, 2'000'000));
  const Message report = make_report({&window, 1}, &list);
  EXPECT_EQ(report.windows[0].keys.size(), kReportKeys + 2);
  EXPECT_EQ(find_for_test(report.windows[0], "k70")->low, 930U);
  // It is not listed here, so it has at most what an unlisted key may have, and not the 950 of
  // those that did not fit.
  EXPECT_EQ(find_for_test(report.windows[0], "elsewhere")->low, 0U);
  EXPECT_EQ(find_for_test(report.windows[0], "elsewhere")->high, 3U);
}

TEST(FleetReport, TellsNoClientsCommandsOrTemplates) {
  detect::Summary window = window_for_test({{"a", 10}}, 10);
  window.keys[0].clients.push_back({"10.0.0.7", 10, 10});
  window.keys[0].commands.push_back({"GET", 10, 10});
  window.templates.emplace();
  const Message report = make_report({&window, 1}, nullptr);
  EXPECT_TRUE(report.windows[0].keys[0].clients.empty());
  EXPECT_TRUE(report.windows[0].keys[0].commands.empty());
  EXPECT_FALSE(report.windows[0].templates);
}

TEST(FleetReport, LeavesOutKeysWhoseWholeNameIsUnknown) {
  detect::Summary window = window_for_test({{"a", 10}}, 10);
  window.keys[0].key_truncated = true;
  const Message report = make_report({&window, 1}, nullptr);
  EXPECT_TRUE(report.windows[0].keys.empty());
  EXPECT_EQ(report.windows[0].absent_max, 10U);
}

TEST(FleetReport, LongNamesDoNotMakeItTooLong) {
  CountsForTest counts;
  for (int i = 0; i < 50; ++i) counts.emplace_back(std::string(1000, 'x') + std::to_string(i), 100);
  const detect::Summary window = window_for_test(counts, 5000);
  EXPECT_LT(encode(make_report({&window, 1}, nullptr)).size(), kReportBytesMax / 4);
}

}  // namespace
}  // namespace heatsink::fleet
