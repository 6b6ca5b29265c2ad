// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/verdict_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::report {
namespace {

using detect::Temperature;

const BothClocks kVerdictsAt{at(10'000), WallTime(std::chrono::seconds(1'700'000'000))};

VerdictForClients hot_key(const std::string& name) {
  VerdictForClients key;
  key.verdict.count.key = name;
  key.verdict.count.db = 3;
  key.verdict.temperature = Temperature::kHot;
  key.verdict.rate = key.verdict.rate_low = 3412;
  key.verdict.rate_high = 3500.5;
  key.verdict.since = at(8000);
  key.copies = true;
  return key;
}

boost::json::object change(const VerdictForClients& key) {
  return boost::json::parse(change_json(key, Temperature::kWarm, kVerdictsAt)).as_object();
}

TEST(VerdictJson, AChangeHasTheKeyTheStatesAndTheEvidence) {
  VerdictForClients key = hot_key("user:1001:cart");
  key.verdict.rule = "carts";
  EXPECT_EQ(change_json(key, Temperature::kWarm, kVerdictsAt),
            R"({"type":"change","time":"2023-11-14T22:13:20.000Z","key":"user:1001:cart","db":3,)"
            R"("state":"hot","rate":3412,"rate_low":3412,"rate_high":3.5005E3,)"
            R"("dimension":"requests","since":"2023-11-14T22:13:18.000Z","copies":true,)"
            R"("template":"user:*:cart","rule":"carts","before":"warm"})");
}

TEST(VerdictJson, ANameIsTextOrBase64AndNeverAnEscapedOne) {
  const boost::json::object text = change(hot_key("caf\xc3\xa9 \"q\" \\ back"));
  EXPECT_EQ(text.at("key").as_string(), "caf\xc3\xa9 \"q\" \\ back");
  EXPECT_FALSE(text.contains("key_base64"));
  for (const std::string& name :
       {std::string("a\0b", 3), std::string("\xff"), std::string("a\n")}) {
    const boost::json::object bytes = change(hot_key(name));
    EXPECT_TRUE(bytes.at("key").is_null());
    EXPECT_TRUE(bytes.contains("key_base64"));
    EXPECT_FALSE(bytes.contains("template"));
  }
  EXPECT_EQ(change(hot_key("\xff")).at("key_base64").as_string(), "/w==");
}

TEST(VerdictJson, ACutNameAndAWarmedKeySaySo) {
  VerdictForClients key = hot_key("long");
  EXPECT_FALSE(change(key).contains("key_truncated") || change(key).contains("rule"));
  key.verdict.count.key_truncated = true;
  key.verdict.since = TimePoint{};
  EXPECT_TRUE(change(key).at("key_truncated").as_bool());
  EXPECT_EQ(change(key).at("since"), change(key).at("time"));
}

TEST(VerdictJson, AListHasAllKeysOrSaysThatItHasNot) {
  const std::vector<VerdictForClients> keys{hot_key("a"), hot_key("b")};
  const boost::json::object list =
      boost::json::parse(list_json(keys, false, kVerdictsAt)).as_object();
  EXPECT_EQ(list.at("type").as_string(), "list");
  EXPECT_FALSE(list.at("complete").as_bool());
  ASSERT_EQ(list.at("keys").as_array().size(), 2U);
  EXPECT_EQ(list.at("keys").as_array()[1].at("key").as_string(), "b");
  EXPECT_FALSE(list.at("keys").as_array()[1].as_object().contains("before"));
  EXPECT_TRUE(boost::json::parse(list_json({}, true, kVerdictsAt)).at("complete").as_bool());
}

}  // namespace
}  // namespace heatsink::report
