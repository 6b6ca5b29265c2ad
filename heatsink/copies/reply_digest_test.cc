// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/reply_digest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::copies {
namespace {

std::string wire(char type, std::size_t count, const std::vector<std::string>& elements) {
  std::string out = type + std::to_string(count) + "\r\n";
  for (const std::string& each : elements)
    out += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
  return out;
}

bool same(const std::string& a, const std::string& b, ReplyOrder order) {
  return reply_digest(a, order) == reply_digest(b, order);
}

TEST(ReplyDigest, IsOfTheBytesWhereOrderMatters) {
  EXPECT_TRUE(same("$1\r\nv\r\n", "$1\r\nv\r\n", ReplyOrder::kMatters));
  EXPECT_FALSE(same("$1\r\nv\r\n", "$1\r\nw\r\n", ReplyOrder::kMatters));
  EXPECT_FALSE(same("_\r\n", "$0\r\n\r\n", ReplyOrder::kMatters));
  EXPECT_FALSE(same(wire('*', 2, {"a", "b"}), wire('*', 2, {"b", "a"}), ReplyOrder::kMatters));
}

TEST(ReplyDigest, ASetIsTheSameInAnyOrder) {
  const std::string set = wire('~', 3, {"a", "b", "c"});
  EXPECT_TRUE(same(set, wire('~', 3, {"c", "a", "b"}), ReplyOrder::kFree));
  EXPECT_FALSE(same(set, wire('~', 3, {"c", "a", "d"}), ReplyOrder::kFree));
  EXPECT_FALSE(same(set, wire('~', 2, {"a", "b"}), ReplyOrder::kFree));
  EXPECT_FALSE(same(set, wire('*', 3, {"a", "b", "c"}), ReplyOrder::kFree));
}

// For instance the values of a hash.
TEST(ReplyDigest, WhatIsThereTwiceCountsTwice) {
  EXPECT_FALSE(
      same(wire('*', 3, {"a", "a", "b"}), wire('*', 3, {"a", "b", "b"}), ReplyOrder::kFree));
}

TEST(ReplyDigest, AMapIsOfPairs) {
  const std::string map = wire('%', 2, {"f", "1", "g", "2"});
  EXPECT_TRUE(same(map, wire('%', 2, {"g", "2", "f", "1"}), ReplyOrder::kFree));
  EXPECT_FALSE(same(map, wire('%', 2, {"f", "2", "g", "1"}), ReplyOrder::kFree));
}

TEST(ReplyDigest, ElementsDoNotRunIntoEachOther) {
  EXPECT_FALSE(same(wire('~', 2, {"ab", "c"}), wire('~', 2, {"a", "bc"}), ReplyOrder::kFree));
}

TEST(ReplyDigest, AnythingIsTaken) {
  for (const char* bytes : {"", "*", "*2\r\n", "*2\r\n$5\r\nab", "%1\r\n:1\r\n", "~1\r\n???"})
    EXPECT_TRUE(same(bytes, bytes, ReplyOrder::kFree)) << bytes;
  EXPECT_TRUE(same("$1\r\nv\r\n", "$1\r\nv\r\n", ReplyOrder::kFree));
}

}  // namespace
}  // namespace heatsink::copies
