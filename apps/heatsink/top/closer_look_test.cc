// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/closer_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KeyView row_of(std::string name, std::uint64_t db, double rate) {
  KeyView row;
  row.raw_name = std::move(name);
  row.db = db;
  row.rate = rate;
  return row;
}

// "a b" in databases 3 and 0, and the beginning of a long name.
HotkeysView listed() {
  HotkeysView view;
  view.keys = {row_of("a b", 3, 9), row_of("a b", 0, 5), row_of("x", 0, 1)};
  view.keys[1].value_bytes = Bytes{71};
  view.keys[2].name_truncated = true;
  return view;
}

HotkeysView told_of(KeyView row) {
  HotkeysView view;
  view.keys = {std::move(row)};
  return view;
}

KeyView hash_in_db_3() {
  KeyView row = row_of("a b", 3, 7);
  row.type = "hash";
  row.encoding = "listpack";
  row.value_bytes = Bytes{120};
  row.ttl = Millis(1500);
  return row;
}

HotkeysView with(KeyView told, const CloserLook& look) {
  HotkeysView view = listed();
  add_closer_look(view, told_of(std::move(told)), look);
  return view;
}

std::vector<std::string> paths(const HotkeysView& view, const CloserLook& look) {
  std::vector<std::string> out;
  for (const CloserLook& each : closer_looks(view, look)) out.push_back(closer_path(each));
  return out;
}

TEST(CloserLook, IsWhereverTheKeyIsListedUnlessADatabaseIsNamed) {
  EXPECT_THAT(paths(listed(), {"a b", std::nullopt}),
              ElementsAre("/api/key?name=a%20b&db=3", "/api/key?name=a%20b&db=0"));
  EXPECT_THAT(paths(listed(), {"a b", 0}), ElementsAre("/api/key?name=a%20b&db=0"));
}

TEST(CloserLook, IsOfSoManyRowsAtMost) {
  HotkeysView many;
  for (std::uint64_t i = 0; i < 60; ++i) many.keys.push_back(row_of("a b", i / 2, 1));  // twice
  const auto looks = closer_looks(many, {"a b", std::nullopt});
  ASSERT_EQ(looks.size(), kCloserRowsMax);
  EXPECT_EQ(looks.front().db, 0U);
  EXPECT_EQ(looks.back().db, 15U);
}

TEST(CloserLook, NamesAreBytes) {
  EXPECT_THAT(paths(listed(), {std::string("\0\xff&%+", 5), 1, true}),
              ElementsAre("/api/key?name=%00%FF%26%25%2B&db=1"));
}

TEST(CloserLook, WhatIsNotListedIsAskedForOnlyWhereThatIsWanted) {
  EXPECT_THAT(paths(listed(), {"other", std::nullopt}), IsEmpty());
  EXPECT_THAT(paths(listed(), {"x", std::nullopt}), IsEmpty());  // a beginning is no name
  EXPECT_THAT(paths(listed(), {"other", std::nullopt, true}),
              ElementsAre("/api/key?name=other&db=0"));
}

TEST(CloserLook, TheRowKeepsItsRateAndGetsWhatIsToldOfTheValue) {
  const HotkeysView out = with(hash_in_db_3(), {"a b", std::nullopt});
  ASSERT_EQ(out.keys.size(), 3U);
  const KeyView& row = out.keys[0];
  EXPECT_EQ(row.rate, 9);
  EXPECT_EQ(row.type, "hash");
  EXPECT_EQ(row.encoding, "listpack");
  EXPECT_EQ(row.value_bytes, Bytes{120});
  EXPECT_EQ(row.ttl, Nanos(Millis(1500)));
  EXPECT_EQ(out.keys[1].type, "") << "another database";
}

TEST(CloserLook, TheLongestReplyStaysWhereNoSizeIsTold) {
  HotkeysView view = listed();
  add_closer_look(view, told_of(row_of("a b", 0, 7)), {"a b", std::nullopt});
  EXPECT_EQ(view.keys[1].value_bytes, Bytes{71});
}

TEST(CloserLook, AColdKeyGetsARowWhereThatIsWanted) {
  KeyView cold = row_of("other", 0, 0);
  cold.verdict = "cold";
  EXPECT_EQ(with(cold, {"other", std::nullopt}).keys.size(), 3U);
  const HotkeysView out = with(cold, {"other", std::nullopt, true});
  ASSERT_EQ(out.keys.size(), 4U);
  EXPECT_EQ(out.keys[3].verdict, "cold");
}

TEST(CloserLook, AnAnswerThatIsNotOfOneKeyChangesNothing) {
  HotkeysView view = listed();
  add_closer_look(view, {}, {"a b", std::nullopt, true});
  HotkeysView two = told_of(hash_in_db_3());
  two.keys.push_back(two.keys.front());
  add_closer_look(view, two, {"a b", std::nullopt, true});
  EXPECT_EQ(view.keys.size(), 3U);
  EXPECT_EQ(view.keys[0].type, "");
}

TEST(CloserLook, WhyThereIsNoneIsTold) {
  HotkeysView view = listed();
  add_problem(view, "it did not answer\nin time", {"a b", 3});
  EXPECT_EQ(view.keys[0].value_problem, "it did not answer\\nin time");
  EXPECT_EQ(view.keys[1].value_problem, "");
}

}  // namespace
}  // namespace heatsink::app
