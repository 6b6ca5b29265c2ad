// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/template_report.h"

#include <gtest/gtest.h>

namespace heatsink::report {
namespace {

detect::Summary ten_seconds() {
  detect::Summary summary;
  summary.window = summary.covered = std::chrono::seconds(10);
  summary.covers_window = true;
  summary.requests = 1000;
  detect::KeyCount user;
  user.key = "user:*";
  user.db = 2;
  user.low = 700;
  user.high = 780;
  user.reads = 600;
  user.writes = 100;
  user.hits = 300;
  summary.templates.emplace().list.push_back(user);
  return summary;
}

TEST(TemplateReport, RatesSharesAndTheRest) {
  const TemplatesReport report = templates_report(ten_seconds(), 0).value();
  ASSERT_EQ(report.list.size(), 1U);
  const TemplateReport& user = report.list[0];
  EXPECT_EQ(user.name, "user:*");
  EXPECT_EQ(user.db, 2U);
  EXPECT_DOUBLE_EQ(user.rate_low, 70);
  EXPECT_DOUBLE_EQ(user.rate_high, 78);
  EXPECT_DOUBLE_EQ(user.rate, 72);
  EXPECT_DOUBLE_EQ(user.share, 0.72);
  EXPECT_DOUBLE_EQ(user.reads_rate, 60);
  EXPECT_DOUBLE_EQ(user.writes_rate, 10);
  EXPECT_DOUBLE_EQ(user.hits_rate, 30);
  EXPECT_DOUBLE_EQ(report.rest_low, 22);
  EXPECT_DOUBLE_EQ(report.rest_high, 30);
}

TEST(TemplateReport, LostAccessesRaiseOnlyUpperBounds) {
  const TemplatesReport report = templates_report(ten_seconds(), 50).value();
  EXPECT_DOUBLE_EQ(report.list[0].rate_low, 70);
  EXPECT_DOUBLE_EQ(report.list[0].rate_high, 83);
  EXPECT_DOUBLE_EQ(report.rest_low, 22);
  EXPECT_DOUBLE_EQ(report.rest_high, 35);
}

TEST(TemplateReport, NothingWithoutCounts) {
  detect::Summary summary = ten_seconds();
  summary.templates.reset();
  EXPECT_FALSE(templates_report(summary, 0).has_value());
  EXPECT_FALSE(templates_report(detect::Summary{}, 0).has_value());
}

}  // namespace
}  // namespace heatsink::report
