// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_template.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/detect/key_pattern.h"

namespace heatsink::detect {
namespace {

TEST(KeyTemplate, FoldsNumbers) {
  EXPECT_EQ(key_template("user:1001:cart"), "user:*:cart");
  EXPECT_EQ(key_template("user1001"), "user*");
  EXPECT_EQ(key_template("v2:item-7"), "v*:item-*");
  EXPECT_EQ(key_template("{user:7}.name"), "{user:*}.name");
  EXPECT_EQ(key_template("1:2"), "*:*");
}

TEST(KeyTemplate, FoldsIdentifiers) {
  EXPECT_EQ(key_template("s:123e4567-e89b-12d3-a456-426614174000:x"), "s:*:x");
  EXPECT_EQ(key_template("s:123E4567-E89B-12D3-A456-426614174000"), "s:*");
  EXPECT_EQ(key_template("blob/5d41402abc4b2a76b9719d911017c592"), "blob/*");
  EXPECT_EQ(key_template("order:01ARZ3NDEKTSV4RRFFQ69G5FAV"), "order:*");
}

TEST(KeyTemplate, JoinsNumbers) {
  EXPECT_EQ(key_template("visits:2024-11-05"), "visits:*");
  EXPECT_EQ(key_template("limit:10.0.0.7:api"), "limit:*:api");
  EXPECT_EQ(key_template("a:1-b:2"), "a:*-b:*");  // a hyphen before a word joins nothing
  EXPECT_EQ(key_template("x1-2"), "x*-*");        // nor one behind a word
}

TEST(KeyTemplate, LeavesWords) {
  for (const char* name : {"facade", "deadbeef", "user:cart", "", ":", "a-b.c", "größe:日本"})
    EXPECT_EQ(key_template(name), name);
  EXPECT_EQ(key_template("abcdefab-0000"), "abcdefab-*");  // not a UUID
}

TEST(KeyTemplate, EscapesWhatMeansSomethingInPatterns) {
  EXPECT_EQ(key_template("a*b?[1]\\"), "a\\*b\\?\\[*\\]\\\\");
}

TEST(KeyTemplate, LongKeysEndInAStar) {
  const std::string limit(kTemplateKeyBytes, 'x');
  EXPECT_EQ(key_template(limit), limit);
  EXPECT_EQ(key_template(limit + "y"), limit + "*");
  EXPECT_EQ(key_template(std::string(200, '7')), "*");
  const std::string stars(kTemplateKeyBytes + 1, '*');
  EXPECT_EQ(key_template(stars).size(), 2 * kTemplateKeyBytes + 1);
  EXPECT_TRUE(KeyPattern(key_template(stars)).matches(stars));
}

RC_GTEST_PROP(KeyTemplate, MatchesItsKey, (const std::string& key)) {
  RC_ASSERT(KeyPattern(key_template(key)).matches(key));
}

RC_GTEST_PROP(KeyTemplate, MatchesKeysOfIdentifiers, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"7", "-", ".", ":", "user", "*", "[", "0a0a0a0a",
                                                  "x1", "123e4567-e89b-12d3-a456-426614174000"}));
  std::string key;
  for (const std::string& piece : pieces) key += piece;
  RC_ASSERT(KeyPattern(key_template(key)).matches(key));
}

// Keys that differ in a number have one template, so that they come together.
RC_GTEST_PROP(KeyTemplate, IsThatOfItsSisters, (std::uint32_t a, std::uint32_t b)) {
  const auto key = [](std::uint32_t id) { return "cart:" + std::to_string(id) + ":lines"; };
  RC_ASSERT(key_template(key(a)) == key_template(key(b)));
}

}  // namespace
}  // namespace heatsink::detect
