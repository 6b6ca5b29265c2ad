// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/read.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::cache {
namespace {

using Words = std::vector<std::string_view>;

bool same(const Words& stored, const Words& asked) {
  return StoredRead(Read{1, stored}).is(Read{1, asked});
}

TEST(StoredRead, IsTheSameQuestionByteForByte) {
  EXPECT_TRUE(same({}, {}));
  EXPECT_TRUE(same({"a"}, {"a"}));
  EXPECT_TRUE(same({"0", "-1"}, {"0", "-1"}));
  EXPECT_TRUE(same({std::string_view("\0x", 2), ""}, {std::string_view("\0x", 2), ""}));
}

TEST(StoredRead, IsNoOther) {
  EXPECT_FALSE(same({"a"}, {"A"}));
  EXPECT_FALSE(same({"1", "23"}, {"12", "3"}));
  EXPECT_FALSE(same({"a"}, {"a", ""}));
  EXPECT_FALSE(same({"a", ""}, {"a"}));
  EXPECT_FALSE(same({}, {""}));
  EXPECT_FALSE(same({"a", "b"}, {"b", "a"}));
  EXPECT_FALSE(StoredRead(Read{1, {}}).is(Read{2, {}}));
}

TEST(StoredRead, GivesItsArgumentsBack) {
  const Words words = {"", "field", std::string_view("\0\r\n", 3)};
  Words seen;
  const StoredRead stored(Read{7, words});
  stored.for_each_argument([&](std::string_view argument) { seen.push_back(argument); });
  EXPECT_EQ(seen, words);
  EXPECT_EQ(stored.command(), 7);
}

}  // namespace
}  // namespace heatsink::cache
