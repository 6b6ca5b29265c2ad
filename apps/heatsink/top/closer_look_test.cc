// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/closer_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace heatsink::app {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;

// "a b" in databases 3 and 0, and the beginning of a long name.
constexpr const char* kHotkeys = R"({"keys":[
  {"name_base64":"YSBi","name_truncated":false,"db":3,"rate":9},
  {"name_base64":"YSBi","name_truncated":false,"db":0,"rate":5},
  {"name_base64":"eA==","name_truncated":true,"db":0,"rate":1}]})";
constexpr const char* kKeyAnswer = R"({"keys":[{"name_base64":"YSBi","db":3,"rate":7,"type":"hash",
  "value_bytes":120,"never_expires":true,"value_problem":""}],"events":[]})";

json::value with(const char* key, const CloserLook& look) {
  return json::parse(with_closer_look(kHotkeys, key, look));
}

std::vector<std::string> paths(std::string_view hotkeys, const CloserLook& look) {
  std::vector<std::string> out;
  for (const CloserLook& each : closer_looks(hotkeys, look)) out.push_back(closer_path(each));
  return out;
}

TEST(CloserLook, IsWhereverTheKeyIsListedUnlessADatabaseIsNamed) {
  EXPECT_THAT(paths(kHotkeys, {"a b", std::nullopt}),
              ElementsAre("/api/key?name=a%20b&db=3", "/api/key?name=a%20b&db=0"));
  EXPECT_THAT(paths(kHotkeys, {"a b", 0}), ElementsAre("/api/key?name=a%20b&db=0"));
}

TEST(CloserLook, IsOfSoManyRowsAtMost) {
  json::array rows;
  for (int i = 0; i < 60; ++i)  // each twice
    rows.push_back({{"name_base64", "YSBi"}, {"name_truncated", false}, {"db", i / 2}});
  const std::string many = json::serialize(json::object{{"keys", rows}});
  const auto looks = closer_looks(many, {"a b", std::nullopt});
  ASSERT_EQ(looks.size(), kCloserRowsMax);
  EXPECT_EQ(looks.front().db, 0U);
  EXPECT_EQ(looks.back().db, 15U);
}

TEST(CloserLook, NamesAreBytes) {
  EXPECT_THAT(paths(kHotkeys, {std::string("\0\xff&%+", 5), 1, true}),
              ElementsAre("/api/key?name=%00%FF%26%25%2B&db=1"));
}

TEST(CloserLook, WhatIsNotListedIsAskedForOnlyWhereThatIsWanted) {
  EXPECT_THAT(paths(kHotkeys, {"other", std::nullopt}), IsEmpty());
  EXPECT_THAT(paths(kHotkeys, {"x", std::nullopt}), IsEmpty());  // a beginning is no name
  EXPECT_THAT(paths(kHotkeys, {"other", std::nullopt, true}),
              ElementsAre("/api/key?name=other&db=0"));
  EXPECT_THAT(paths("[]", {"other", std::nullopt, true}), IsEmpty());
}

TEST(CloserLook, TheRowKeepsItsRateAndGetsWhatIsToldOfTheValue) {
  const json::value out = with(kKeyAnswer, {"a b", std::nullopt});
  const json::value& row = out.at("keys").at(0);
  EXPECT_EQ(row.at("rate").as_int64(), 9);
  EXPECT_EQ(row.at("type").as_string(), "hash");
  EXPECT_EQ(row.at("value_bytes").as_int64(), 120);
  EXPECT_TRUE(row.at("never_expires").as_bool());
  EXPECT_FALSE(out.at("keys").at(1).as_object().contains("type"));  // another database
  EXPECT_EQ(out.at("keys").as_array().size(), 3U);
}

TEST(CloserLook, AColdKeyGetsARowWhereThatIsWanted) {
  const char* cold = R"({"keys":[{"name_base64":"b3RoZXI=","db":0,"verdict":"cold"}]})";
  EXPECT_EQ(with(cold, {"other", std::nullopt}).at("keys").as_array().size(), 3U);
  const json::value out = with(cold, {"other", std::nullopt, true});
  ASSERT_EQ(out.at("keys").as_array().size(), 4U);
  EXPECT_EQ(out.at("keys").at(3).at("verdict").as_string(), "cold");
}

TEST(CloserLook, AnAnswerThatIsNoneChangesNothing) {
  for (const char* bad : {"", "[]", "{}", R"({"keys":[]})", R"({"keys":[1]})", R"({"keys":7})"})
    EXPECT_EQ(with_closer_look(kHotkeys, bad, {"a b", std::nullopt}), kHotkeys) << bad;
  EXPECT_EQ(with_closer_look("nothing", kKeyAnswer, {"a b", std::nullopt}), "nothing");
}

TEST(CloserLook, WhyThereIsNoneIsTold) {
  const json::value out = json::parse(
      with_no_closer_look(kHotkeys, "it did not answer in time", {"a b", std::nullopt}));
  EXPECT_EQ(out.at("keys").at(0).at("value_problem").as_string(), "it did not answer in time");
}

}  // namespace
}  // namespace heatsink::app
