// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const TopRows& rows) {
  std::vector<std::string> out;
  for (const TopRow& row : rows.rows) out.push_back(row.key->name);
  return out;
}

HotkeysView carts() {
  HotkeysView view;
  view.keys = {sample_key("user:1:cart", 4000, "hot"), sample_key("user:22:cart", 1000, "warm"),
               sample_key("user:7:profile", 3000, "hot"), sample_key("motd", 4500, "hot")};
  view.keys[1].hits_rate = 0;
  view.keys[1].cached = false;
  return view;
}

TEST(TopRows, OrderFilterAndLimit) {
  const HotkeysView view = sample_answer();
  EXPECT_EQ(names(rows_of(view, {.order = {SortBy::kRate, false}})).front(), "product:1000:price");
  EXPECT_EQ(names(rows_of(view, {.order = {SortBy::kRate, true}})).front(), "user:1002:profile");
  const TopRows rows =
      rows_of(view, {.order = {}, .filter = parse_filter("verdict=hot").value(), .limit = 2});
  EXPECT_THAT(names(rows), ElementsAre("product:1000:price", "blob\\x00\\xff:\\x1b[2J"));
  EXPECT_EQ(rows.keys, 3U) << "those that the limit leaves out are counted";
}

TEST(TopRows, WhatIsNotKnownStandsLast) {
  HotkeysView view = sample_answer();
  view.keys[0].rate = kUnknown;
  EXPECT_EQ(names(rows_of(view, {})).back(), "product:1000:price");
}

TEST(TopRows, TemplatesAddUpTheirKeys) {
  const HotkeysView view = carts();
  const TopRows rows = rows_of(view, {.order = {}, .filter = {}, .templates = true});
  EXPECT_THAT(names(rows), ElementsAre("user:*:cart", "motd", "user:7:profile"));
  EXPECT_EQ(rows.rows[0].keys, 2U);
  EXPECT_EQ(rows.rows[1].keys, 0U) << "a template of one key is that key";
  const KeyView& sum = *rows.rows[0].key;
  EXPECT_DOUBLE_EQ(sum.rate, 5000);
  EXPECT_DOUBLE_EQ(sum.rate_low, 4976);
  EXPECT_DOUBLE_EQ(sum.rate_high, 5000);
  EXPECT_DOUBLE_EQ(sum.share, 5000.0 / 42110);
  EXPECT_DOUBLE_EQ(sum.reads_rate, 4950);
  EXPECT_DOUBLE_EQ(sum.writes_rate, 50);
  EXPECT_DOUBLE_EQ(sum.hits_rate, 3920);
  EXPECT_DOUBLE_EQ(sum.misses_rate, view.keys[0].misses_rate + view.keys[1].misses_rate);
  EXPECT_DOUBLE_EQ(sum.hit_ratio, 3920.0 / 4950);
  EXPECT_DOUBLE_EQ(sum.bytes_rate, 600'000);
  EXPECT_EQ(sum.verdict, "hot");
  EXPECT_EQ(sum.cache_note, "1 of 2 cached");
  EXPECT_EQ(sum.commands.at(0).name, "GET");
  EXPECT_DOUBLE_EQ(sum.commands.at(0).count, 49'500);
  EXPECT_DOUBLE_EQ(sum.clients.at(1).count, 17'500);
}

TEST(TopRows, DatabasesAndUnitsAreNotAddedUp) {
  HotkeysView view = carts();
  view.keys[1].db = 1;
  EXPECT_EQ(rows_of(view, {.order = {}, .filter = {}, .templates = true}).rows.size(), 4U);
  view.keys[1].db = 0;
  view.keys[1].dimension = "bytes";
  EXPECT_EQ(rows_of(view, {.order = {}, .filter = {}, .templates = true}).rows.size(), 4U);
}

TEST(TopRows, AnOpenedTemplateShowsItsKeys) {
  const HotkeysView view = carts();
  const TopRows rows = rows_of(
      view, {.order = {}, .filter = {}, .templates = true, .group = template_of(view.keys[0])});
  EXPECT_THAT(names(rows), ElementsAre("user:1:cart", "user:22:cart"));
}

TEST(TopRows, ATemplateHasTheIdThatItsKeysPointTo) {
  const HotkeysView view = carts();
  const TopRows rows = rows_of(view, {.order = {}, .filter = {}, .templates = true});
  EXPECT_EQ(id_of(*rows.rows[0].key), template_of(view.keys[1]));
}

TEST(TopRows, ATemplateOfBytesIsShownEscaped) {
  HotkeysView view;
  view.keys = {sample_key("a\\x00:1", 10, "hot"), sample_key("a\\x00:2", 10, "hot")};
  EXPECT_THAT(names(rows_of(view, {.order = {}, .filter = {}, .templates = true})),
              ElementsAre("a\\x00:*"));
}

HotkeysView counted_carts() {
  HotkeysView view = carts();
  const auto counted = [](const std::string& name, double rate) {
    KeyView each;
    each.name = each.raw_name = name;
    each.dimension = "requests";
    each.rate = each.rate_low = each.rate_high = each.reads_rate = rate;
    return each;
  };
  view.templates = TemplatesView{{counted("user:*:cart", 14'000), counted("motd", 4500),
                                  counted("session:*", 900), counted("user:*:profile", 3100)},
                                 0,
                                 12};
  return view;
}

TEST(TopRows, CountedTemplatesHaveAllAccesses) {
  const HotkeysView view = counted_carts();
  const TopRows rows = rows_of(view, {.order = {}, .filter = {}, .templates = true});
  EXPECT_THAT(names(rows), ElementsAre("user:*:cart", "motd", "user:*:profile", "session:*"));
  EXPECT_EQ(rows.rows[0].keys, 2U);
  EXPECT_TRUE(rows.rows[0].is_counted);
  EXPECT_DOUBLE_EQ(rows.rows[0].key->rate, 14'000) << "not the 5000 of its listed keys";
  EXPECT_EQ(rows.rows[0].key->verdict, "hot");
  EXPECT_FALSE(rows.rows[1].is_template) << "a name without a star is the key itself";
  EXPECT_EQ(rows.rows[2].keys, 1U);
  EXPECT_EQ(rows.rows[3].keys, 0U);
  EXPECT_TRUE(rows.rows[3].is_template);
  EXPECT_EQ(rows.rows[3].key->verdict, "");
}

TEST(TopRows, AFilterKeepsCountedTemplatesThatMatch) {
  const HotkeysView view = counted_carts();
  const auto shown = [&](std::string_view filter) {
    return names(
        rows_of(view, {.order = {}, .filter = parse_filter(filter).value(), .templates = true}));
  };
  EXPECT_THAT(shown("session"), ElementsAre("session:*"));
  EXPECT_THAT(shown("verdict=warm"), ElementsAre("user:*:cart")) << "one of its keys is warm";
}

TEST(TopRows, TalliesOfATemplateAreBounded) {
  HotkeysView view = carts();
  view.keys[0].clients.clear();
  for (int i = 0; i < 8; ++i) view.keys[0].clients.push_back({"a" + std::to_string(i), 10});
  const TopRows rows = rows_of(view, {.order = {}, .filter = {}, .templates = true});
  EXPECT_EQ(rows.rows[0].key->clients.size(), detect::kTalliesMax);
  EXPECT_EQ(rows.rows[0].key->clients[0].name, "10.0.0.7") << "the busiest are kept";
}

}  // namespace
}  // namespace heatsink::app
