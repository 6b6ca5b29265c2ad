// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::observe {
namespace {

detect::KeyCount counted(std::uint64_t hash, std::string name, std::uint64_t reads,
                         std::uint64_t writes) {
  detect::KeyCount out;
  out.hash = KeyHash{hash};
  out.key = std::move(name);
  out.low = out.high = reads + writes;
  out.reads = reads;
  out.writes = writes;
  return out;
}

// Windows of 0.1 s within 10 s, of 1000 accesses each.
class MonitorRatesTest : public testing::Test {
 protected:
  void add(std::vector<detect::KeyCount> templates, std::uint64_t absent_max) {
    detect::Summary& window = windows_.counts.emplace_back();
    window.requests = 1000;
    window.templates = detect::TemplateCounts{absent_max, std::move(templates)};
    windows_.seconds.push_back(0.1);
  }

  MonitorWindows windows_{.counts = {}, .seconds = {}, .watched_seconds = 10};
};

TEST_F(MonitorRatesTest, TemplatesHaveTheRatesOfAllTheirAccesses) {
  add({counted(1, "user:*", 600, 100), counted(2, "cart:*", 300, 0)}, 0);
  add({counted(1, "user:*", 500, 100)}, 50);
  const std::optional<report::TemplatesReport> told = rates_of(windows_).templates;
  ASSERT_TRUE(told.has_value());
  ASSERT_EQ(told->list.size(), 2U);
  const report::TemplateReport& users = told->list[0];
  EXPECT_EQ(users.name, "user:*");
  EXPECT_NEAR(users.rate, 6500, 1);
  EXPECT_LT(users.rate_low, 6500);
  EXPECT_GT(users.rate_high, 6500);
  EXPECT_NEAR(users.share, 0.65, 0.001);
  EXPECT_NEAR(users.reads_rate, 5500, 1);
  EXPECT_NEAR(users.writes_rate, 1000, 1);
  const report::TemplateReport& carts = told->list[1];
  EXPECT_EQ(carts.name, "cart:*");
  EXPECT_LT(carts.rate_low, 1500);
  EXPECT_GT(carts.rate_high, 1750) << "the second window may have had 50";
}

TEST_F(MonitorRatesTest, AccessesInNoListedTemplateAreTold) {
  add({counted(1, "user:*", 700, 0), counted(2, "cart:*", 300, 0)}, 0);
  add({counted(1, "user:*", 600, 0)}, 50);
  const std::optional<report::TemplatesReport> told = rates_of(windows_).templates;
  ASSERT_TRUE(told.has_value());
  EXPECT_LT(told->rest_low, 350 / 0.2);
  EXPECT_GT(told->rest_low, 0);
  EXPECT_GT(told->rest_high, 400 / 0.2);
  EXPECT_LT(told->rest_high, 1000 / 0.2);
}

TEST_F(MonitorRatesTest, TheBusiestTemplateIsFirst) {
  add({counted(1, "few:*", 10, 0), counted(2, "many:*", 900, 0)}, 0);
  const std::optional<report::TemplatesReport> told = rates_of(windows_).templates;
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->list.front().name, "many:*");
}

TEST_F(MonitorRatesTest, WithoutCountsThereIsNothingToTell) {
  EXPECT_FALSE(rates_of(windows_).templates.has_value());
  EXPECT_FALSE(absent_rate(windows_, {}).has_value());
  add({}, 0);
  windows_.counts[0].templates.reset();
  EXPECT_FALSE(rates_of(windows_).templates.has_value());
}

}  // namespace
}  // namespace heatsink::observe
