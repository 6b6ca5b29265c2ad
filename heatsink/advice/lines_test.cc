// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::advice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KeyPlace behind_proxy(std::string name) {
  return {.name = std::move(name), .server = "10.0.0.7:6379", .has_proxy = true};
}

TEST(Lines, AQuotedNameIsReadBack) {
  EXPECT_EQ(quoted("user:1"), "\"user:1\"");
  EXPECT_EQ(quoted("a\"b\\c\n\x01"), R"("a\"b\\c\n\x01")");
  EXPECT_EQ(quoted("gr\u00f6\u00dfe"), "\"gr\u00f6\u00dfe\"");
}

TEST(Lines, WhatNoTextHoldsIsNotQuoted) {
  EXPECT_EQ(quoted("a\xff"), std::nullopt);
  EXPECT_EQ(quoted("\u202e"), std::nullopt) << "it would turn the line around";
  EXPECT_EQ(quoted("a\\xff"), R"("a\\xff")") << "a name that only looks like it";
}

TEST(Lines, AShellTakesANameAsOneWord) {
  EXPECT_EQ(shell_name("user:1"), "'user:1'");
  EXPECT_EQ(shell_name("it's $(x)\n"), R"('it'\''s $(x)\n')");
}

TEST(Lines, ARuleIsForTheKeyAlone) {
  EXPECT_THAT(rule_lines(behind_proxy("views:1"), {"coalesce: 2ms"}),
              ElementsAre("rules:", "  - match: \"views:1\"", "    coalesce: 2ms"));
  EXPECT_THAT(rule_lines(behind_proxy("a*b?[c]\\"), {}),
              ElementsAre("rules:", R"(  - match: "a\\*b\\?\\[c]\\\\")"));
}

TEST(Lines, ARuleThatItHasGetsALineMore) {
  KeyPlace place = behind_proxy("views:1");
  place.rule = "views:*";
  EXPECT_THAT(rule_lines(place, {"coalesce: 2ms"}),
              ElementsAre("# its current rule, with this addition:", "rules:",
                          "  - match: \"views:*\"", "    coalesce: 2ms"));
  place.rule = "views:1";
  EXPECT_EQ(rule_lines(place, {})[2], "  - match: \"views:1\"");
}

TEST(Lines, WithoutAProxyItIsAWholeConfiguration) {
  KeyPlace place = behind_proxy("k");
  place.has_proxy = false;
  EXPECT_THAT(rule_lines(place, {"hot-qps: 5"}),
              ElementsAre("# heatsink proxy --config heatsink.yaml",
                          "upstream:", "  url: redis://10.0.0.7:6379", "rules:", "  - match: \"k\"",
                          "    hot-qps: 5"));
}

TEST(Lines, WithoutAWholeNameThereAreNone) {
  KeyPlace place = behind_proxy("k");
  place.name.reset();
  EXPECT_THAT(rule_lines(place, {"coalesce: 2ms"}), IsEmpty());
  EXPECT_THAT(warm_lines(place), IsEmpty());
  EXPECT_THAT(rule_lines(behind_proxy("\xff"), {}), IsEmpty());
  EXPECT_THAT(rule_lines(behind_proxy("a\nb"), {}), IsEmpty()) << "no option holds a line's end";
}

TEST(Lines, AnOrderToWarmNamesItsDatabase) {
  EXPECT_THAT(warm_lines(behind_proxy("k")), ElementsAre("heatsink warm --for 30m 'k'"));
  KeyPlace place = behind_proxy("-k");
  place.db = 3;
  EXPECT_THAT(warm_lines(place), ElementsAre("heatsink warm --for 30m --db 3 -- '-k'"));
}

}  // namespace
}  // namespace heatsink::advice
