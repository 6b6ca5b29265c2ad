// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/warm_json.h"
#include "heatsink/report/report.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>

namespace heatsink::report {
namespace {

namespace json = boost::json;

std::string fault(const std::string& body, bool ends = false) {
  const Result<WarmOrder> order = parse_warm_order(body, ends);
  return order.ok() ? "" : order.error().message;
}

TEST(WarmJson, AnOrderHasKeysAndATime) {
  const WarmOrder order =
      parse_warm_order(
          R"({"keys": ["a", {"name": "b", "db": 3}, {"name_base64": "/w=="}], "for_seconds": 1.5})",
          false)
          .value();
  ASSERT_EQ(order.keys.size(), 3U);
  EXPECT_EQ(order.keys[0].name, "a");
  EXPECT_EQ(order.keys[1].db, 3U);
  EXPECT_EQ(order.keys[2].name, "\xff");
  EXPECT_EQ(order.lasts, Millis(1500));
  EXPECT_FALSE(order.ends);
  EXPECT_TRUE(parse_warm_order(R"({"keys": ["a"]})", true).value().ends);
}

TEST(WarmJson, WhatCannotBeIsToldWhere) {
  EXPECT_EQ(fault(R"({"keys": ["a"]})"), "\"for_seconds\" must be 1 .. 604800");
  for (const char* time : {"0", "-1", "1e99", "\"1\"", "null", "604801"})
    EXPECT_NE(fault(R"({"keys": ["a"], "for_seconds": )" + std::string(time) + "}"), "") << time;
  EXPECT_NE(fault(R"({"keys": ["a", 7], "for_seconds": 9})").find("key 2 in"), std::string::npos);
  for (const char* key :
       {"{}", "[]", R"({"name": "a", "name_base64": "YQ=="})", R"({"name_base64": "?"})",
        R"({"name": "a", "db": -1})", R"({"name": "a", "db": "0"})"})
    EXPECT_NE(fault(R"({"for_seconds": 9, "keys": [)" + std::string(key) + "]}"), "") << key;
  for (const char* body : {"", "x", "[]", "{}", R"({"keys": []})", R"({"keys": "a"})"})
    EXPECT_NE(fault(body, true), "") << body;
  EXPECT_NE(fault(std::string(100'000, '['), true), "");
}

TEST(WarmJson, NoMoreKeysThanOneOrderMayHave) {
  std::string keys = "\"a\"";
  for (std::size_t i = 1; i < WarmOrder::kKeysMax; ++i) keys += ",\"a\"";
  EXPECT_EQ(fault("{\"keys\": [" + keys + "]}", true), "");
  EXPECT_NE(fault("{\"keys\": [" + keys + ",\"a\"]}", true), "");
}

TEST(WarmJson, OrAPattern) {
  const WarmOrder order =
      parse_warm_order(R"({"pattern": "sale:*", "db": 3, "for_seconds": 60, "limit": 9,
                           "concurrency": 8, "rate": 2.5})",
                       false)
          .value();
  EXPECT_EQ(order.pattern->glob, "sale:*");
  EXPECT_EQ(order.pattern->db, 3U);
  EXPECT_EQ(order.pattern->keys_max, 9U);
  EXPECT_EQ(order.pattern->loading_max, 8U);
  EXPECT_EQ(order.pattern->keys_per_second, 2.5);
  EXPECT_EQ(order.lasts, std::chrono::seconds(60));
  EXPECT_EQ(parse_warm_order(R"({"pattern_base64": "/yo="})", true).value().pattern->glob, "\xff*");
  EXPECT_EQ(parse_warm_order(R"({"search": 7})", true).value().search, 7U);
}

TEST(WarmJson, AWrongPatternIsTold) {
  EXPECT_NE(fault(R"({"pattern": "a[b", "for_seconds": 9})").find("has an open '['"),
            std::string::npos);
  EXPECT_NE(fault(R"({"pattern": "", "for_seconds": 9})").find("is empty"), std::string::npos);
  EXPECT_EQ(fault(R"({"pattern": "a*", "for_seconds": 9})"), "");
  EXPECT_EQ(fault(R"({"pattern": "a*"})"), "\"for_seconds\" must be 1 .. 604800");
  for (const char* wrong :
       {R"("pattern": 1)", R"("pattern_base64": "?")",
        R"("pattern": "a", "pattern_base64": "YQ==")", R"("pattern": "a", "keys": ["a"])",
        R"("pattern": "a", "limit": 0)", R"("pattern": "a", "limit": 4097)",
        R"("pattern": "a", "limit": 1.5)", R"("pattern": "a", "concurrency": 0)",
        R"("pattern": "a", "rate": -1)", R"("pattern": "a", "rate": "1")",
        R"("pattern": "a", "db": -1)", R"("search": 7)"})
    EXPECT_NE(fault("{\"for_seconds\": 9, " + std::string(wrong) + "}"), "") << wrong;
  for (const char* wrong : {R"("search": 0)", R"("search": "7")", R"("search": 7, "keys": ["a"])"})
    EXPECT_NE(fault("{" + std::string(wrong) + "}", true), "") << wrong;
}

TEST(WarmJson, HowFarASearchIs) {
  WarmReport report;
  report.at = TimePoint(std::chrono::seconds(1000));
  WarmSearch& search = report.searches.emplace_back();
  search.id = 7;
  search.glob = "a\xff*";
  search.state = WarmSearch::State::kFinished;
  search.note = "the limit is 2 keys";
  search.progress = 1;
  search.found = 3;
  search.warmed = 2;
  search.left_out = 1;
  search.left_out_names = {"a\x1b"};
  search.until = report.at + std::chrono::seconds(60);
  const WallTime wall(std::chrono::seconds(1'795'262'400));
  EXPECT_EQ(json::parse(warm_json(report, wall)).at("searches"), json::parse(R"([
    {"id": 7, "pattern": "a\\xff*", "db": 0, "state": "finished", "note": "the limit is 2 keys",
     "progress": 1, "found": 3, "warmed": 2, "loading": 0, "left_out": 1,
     "left_out_names": ["a\\x1b"], "warmed_until": "2026-11-21T12:01:00.000Z"}])"));
}

TEST(WarmJson, WhatCameOfIt) {
  WarmReport report;
  report.at = TimePoint(std::chrono::seconds(1000));
  report.keys.push_back(
      {{"a\xff", 3}, WarmOutcome::kMissing, "no such key", report.at + std::chrono::seconds(60)});
  report.keys.push_back({{"b", 0}, WarmOutcome::kRefused, "its level is off", {}});
  const WallTime wall(std::chrono::seconds(1'795'262'400));
  EXPECT_EQ(json::parse(warm_json(report, wall)), json::parse(R"({
    "at": "2026-11-21T12:00:00.000Z", "problem": "", "keys": [
    {"name": "a\\xff", "name_base64": "Yf8=", "name_truncated": false, "db": 3,
     "outcome": "missing", "note": "no such key", "warmed_until": "2026-11-21T12:01:00.000Z"},
    {"name": "b", "name_base64": "Yg==", "name_truncated": false, "db": 0,
     "outcome": "refused", "note": "its level is off", "warmed_until": null}], "searches": []})"));
}

}  // namespace
}  // namespace heatsink::report
