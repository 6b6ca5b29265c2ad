// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/advice_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace heatsink::app {
namespace {

TEST(SlotsJson, SaysNothingWithoutACluster) { EXPECT_EQ(slots_json({}), ""); }

TEST(SlotsJson, SaysWhyANodeIsBusy) {
  report::Report report;
  report.slots.emplace();
  report.slots->nodes = {{"a:1", 8192, 900}, {"b:2", 8192, 100}};
  report.slots->slots = {{.slot = 7, .node = 0, .load = 800, .key = "front\n", .key_load = 790},
                         {.slot = 9000, .node = 1, .load = 50}};
  const boost::json::value out = boost::json::parse(slots_json(report));
  EXPECT_EQ(out.at("imbalance").to_number<double>(), 1.8);
  EXPECT_EQ(out.at("busiest").as_string(), "a:1");
  EXPECT_EQ(out.at("slots").as_array().size(), 2u);
  EXPECT_TRUE(out.at("slots").at(1).at("key").is_null());
  const boost::json::value& advice = out.at("advice").at(0);
  EXPECT_EQ(advice.at("kind").as_string(), "one-key");
  EXPECT_THAT(std::string(advice.at("text").as_string()),
              testing::HasSubstr("its key front\\n makes"));
  EXPECT_EQ(advice.at("slots").at(0).as_int64(), 7);
  EXPECT_EQ(out.at("judged_by").as_string(), "commands");
  EXPECT_TRUE(out.at("nodes").at(0).at("cpu_cores").is_null());
  EXPECT_TRUE(out.at("slots").at(0).at("cpu_share").is_null());
}

TEST(SlotsJson, TheServersCpuTimeDecidesIfAllCountIt) {
  report::Report report;
  report.slots.emplace();
  report.slots->by_cpu = true;
  report.slots->nodes = {{"a:1", 8192, 100, 0.6, 0.4, 3000, 60'000},
                         {"b:2", 8192, 900, 0.2, 0.1, 10, 900}};
  report.slots->slots = {{.slot = 7,
                          .node = 0,
                          .load = 90,
                          .key = "k",
                          .key_load = 80,
                          .executing = 0.2,
                          .bytes_rate = 9}};
  const boost::json::value out = boost::json::parse(slots_json(report));
  EXPECT_EQ(out.at("judged_by").as_string(), "cpu");
  EXPECT_TRUE(out.at("why_not_cpu").is_null());
  EXPECT_EQ(out.at("imbalance").to_number<double>(), 1.5);
  EXPECT_EQ(out.at("busiest").as_string(), "a:1");
  EXPECT_EQ(out.at("slots").at(0).at("cpu_share").to_number<double>(), 0.5);
  EXPECT_EQ(out.at("advice").at(0).at("kind").as_string(), "unseen");
}

}  // namespace
}  // namespace heatsink::app
