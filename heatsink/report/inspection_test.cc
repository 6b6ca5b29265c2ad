// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/inspection.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "heatsink/report/report.h"
#include "heatsink/report/testing/sample_report.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

const TimePoint kAskedAt(std::chrono::seconds(1002));
const WallTime kAskedAtWall(std::chrono::seconds(1'795'262'402));

json::value parsed(const KeyInspection& told) {
  return json::parse(key_json(told, kAskedAt, kAskedAtWall));
}

TEST(KeyJson, HasTheRowOfHotkeysAndWhatTheServerTells) {
  const json::value out = parsed(sample_inspection(std::string("a\0b", 3), 2));
  EXPECT_EQ(out.at("at").as_string(), "2026-11-21T12:00:00.000Z");  // the report's own moment
  EXPECT_EQ(out.at("node").at("upstream").as_string(), "127.0.0.1:6379");
  ASSERT_EQ(out.at("keys").as_array().size(), 1U);
  const json::value& row = out.at("keys").at(0);
  EXPECT_EQ(row.at("name_base64").as_string(), "YQBi");
  EXPECT_EQ(row.at("db").as_int64(), 2);
  EXPECT_EQ(row.at("verdict").as_string(), "hot");
  EXPECT_EQ(row.at("type").as_string(), "hash");
  EXPECT_EQ(row.at("encoding").as_string(), "listpack");
  EXPECT_EQ(row.at("value_bytes").as_int64(), 120);
  EXPECT_EQ(row.at("memory_bytes").as_int64(), 184);
  EXPECT_EQ(row.at("ttl_seconds").as_double(), 1.5);
  EXPECT_FALSE(row.as_object().contains("never_expires"));
  EXPECT_EQ(row.at("value_problem").as_string(), "the server says: NOPERM");
  EXPECT_EQ(out.at("events").as_array().size(), 2U);
}

TEST(KeyJson, WhatIsNotToldHasNoMember) {
  KeyInspection told = sample_inspection("a", 0);
  told.type = told.encoding = "";
  told.value_bytes.reset();
  told.memory_bytes.reset();
  told.ttl.reset();
  told.never_expires = true;
  const json::value out = parsed(told);
  const json::object& row = out.at("keys").at(0).as_object();
  for (const char* member : {"type", "encoding", "value_bytes", "memory_bytes", "ttl_seconds"})
    EXPECT_FALSE(row.contains(member)) << member;
  EXPECT_TRUE(row.at("never_expires").as_bool());
}

TEST(KeyJson, WhatTheServerSaysIsNoMarkup) {
  KeyInspection told = sample_inspection("a", 0);
  told.type = "\x1b[2J";
  told.problem = "the server says: \n\xff";
  const json::value out = parsed(told);
  EXPECT_EQ(out.at("keys").at(0).at("type").as_string(), "\\x1b[2J");
  EXPECT_EQ(out.at("keys").at(0).at("value_problem").as_string(), "the server says: \\n\\xff");
}

}  // namespace
}  // namespace heatsink::report
