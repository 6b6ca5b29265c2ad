// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using testing::HasSubstr;

bool passes(std::string_view filter, const KeyView& key) {
  const auto parsed = parse_filter(filter);
  EXPECT_TRUE(parsed.ok()) << filter;
  return parsed.ok() && parsed->matches(key);
}

bool passes(std::string_view filter, const std::string& shown_name) {
  return passes(filter, sample_key(shown_name, 5000, "hot"));
}

TEST(TopFilter, NothingGivenPassesEverything) {
  EXPECT_TRUE(passes("", "user:1"));
  EXPECT_TRUE(passes("   ", ""));
}

TEST(TopFilter, AWordIsHowTheNameBegins) {
  EXPECT_TRUE(passes("user:", "user:1"));
  EXPECT_FALSE(passes("ser:", "user:1"));
  EXPECT_FALSE(passes("User:", "user:1"));
  EXPECT_TRUE(passes("größe", "größe:日本"));
}

TEST(TopFilter, APatternIsOfTheWholeName) {
  EXPECT_TRUE(passes("*:cart", "user:1:cart"));
  EXPECT_FALSE(passes("*:cart", "user:1:cart:2"));
  EXPECT_TRUE(passes("user:[12]", "user:2"));
  EXPECT_TRUE(passes("user:?", "user:2"));
  EXPECT_FALSE(passes("user:?", "user:22"));
}

TEST(TopFilter, BytesAreTypedAsTheyAreShown) {
  EXPECT_TRUE(passes("blob\\x00\\xff", "blob\\x00\\xff:1"));
  EXPECT_FALSE(passes("blob\\x00\\xfe", "blob\\x00\\xff:1"));
  EXPECT_TRUE(passes("a\\x20b", "a b"));
  EXPECT_TRUE(passes("a\\x2ab", "a*b")) << "a byte that was typed so is no star";
  EXPECT_FALSE(passes("a\\x2ab", "axxb"));
  EXPECT_TRUE(passes("a\\*b", "a*b"));
  EXPECT_FALSE(passes("a\\*b", "axb"));
}

TEST(TopFilter, OtherWordsAreWhereAndWhoAndWhat) {
  KeyView key = sample_key("k", 5000, "hot");
  key.db = 3;
  key.node = "10.0.0.1:6379";
  EXPECT_TRUE(passes("db=3", key));
  EXPECT_FALSE(passes("db=0", key));
  EXPECT_TRUE(passes("command=get", key));
  EXPECT_FALSE(passes("command=GETRANGE", key));
  EXPECT_TRUE(passes("client=10.0.0.8", key));
  EXPECT_TRUE(passes("client=10.", key));
  EXPECT_FALSE(passes("client=0.0", key));
  EXPECT_TRUE(passes("verdict=hot", key));
  EXPECT_FALSE(passes("verdict=write-hot", key));
  EXPECT_TRUE(passes("node=10.0.0.1", key));
  EXPECT_FALSE(passes("node=10.0.0.2", key));
  EXPECT_TRUE(passes("  k  db=3 command=GET ", key));
  EXPECT_FALSE(passes("k db=3 command=DEL", key));
}

TEST(TopFilter, ANameMayHoldAnEqualsSign) {
  EXPECT_TRUE(passes("a=b", "a=b:1"));
  EXPECT_TRUE(passes("=", "=x"));
}

TEST(TopFilter, WhatCannotBeMeantSaysWhatMayBeTyped) {
  for (const std::string& wrong : {std::string("db=x"), std::string("db="), std::string("db=-1"),
                                   std::string("db=1x"), std::string("db=99999999999999999999"),
                                   std::string("a b"), std::string(kFilterBytesMax + 1, 'a')}) {
    const auto filter = parse_filter(wrong);
    ASSERT_FALSE(filter.ok()) << wrong;
    EXPECT_THAT(filter.error().message, HasSubstr("a pattern as in user:*, db=0, command=GET"));
  }
}

}  // namespace
}  // namespace heatsink::app
