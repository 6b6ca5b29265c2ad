// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/instances_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apps/heatsink/watch/instance_for_test.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

const httpd::Now kNow{kWatchNow, WallTime(std::chrono::seconds(1'795'867'200))};

TEST(InstancesJson, ASilentOneIsThereWithItsReasonAndSinceWhen) {
  const json::array list = instances_array(
      picture_with({instance_with("a:1", {{"x", 100, 100}}, 0), silent_instance("b:1")}), kNow);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("answers"), true);
  EXPECT_EQ(list[0].at("share"), 1);
  EXPECT_EQ(list[1].at("answers"), false);
  EXPECT_EQ(list[1].at("problem"), "timed out");
  EXPECT_EQ(list[1].at("since"), "2026-11-28T11:58:20.000Z");
  EXPECT_FALSE(list[1].get_object().contains("requests_rate"));
}

TEST(InstancesJson, OneKeyByInstance) {
  const Picture picture =
      picture_with({with_verdict(instance_with("a:1", {{"x\n", 100, 110}}, 5), "x\n", "hot"),
                    instance_with("b:1", {{"y", 1, 1}}, 0.5), silent_instance("c:1"),
                    instance_with("d:1", {}, heat::kNotKnown)});
  const json::value told = json::parse(key_by_instance_json(picture, "x\n", 0, kNow));
  EXPECT_EQ(told.at("name"), "x\\n");
  const json::array& list = told.at("instances").as_array();
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].at("is_named"), true);
  EXPECT_EQ(list[0].at("rate_low"), 100);
  EXPECT_EQ(list[0].at("rate_high"), 110);
  EXPECT_EQ(list[0].at("verdict"), "hot");
  EXPECT_EQ(list[1].at("is_named"), false);
  EXPECT_EQ(list[1].at("rate_low"), 0);
  EXPECT_EQ(list[1].at("rate_high"), 0.5);
  EXPECT_TRUE(list[3].at("rate_high").is_null());
  EXPECT_FALSE(list[2].get_object().contains("rate_low"));
  const json::value other = json::parse(key_by_instance_json(picture, "x\n", 3, kNow));
  EXPECT_EQ(other.at("instances").as_array()[0].at("is_named"), false) << "another database";
}

}  // namespace
}  // namespace heatsink::app
