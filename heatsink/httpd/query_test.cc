// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/query.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::httpd {
namespace {

TEST(Query, IsWhatFollowsTheMark) {
  EXPECT_EQ(query_of("/api/stats?key=a&b"), "key=a&b");
  EXPECT_EQ(query_of("/api/stats"), "");
  EXPECT_EQ(query_of("/api/stats?"), "");
}

TEST(Query, ValuesByName) {
  EXPECT_EQ(query_value("key=a&window=5s", "window"), "5s");
  EXPECT_EQ(query_value("key=a&key=b", "key"), "a");
  EXPECT_EQ(query_value("keys=a&key=", "key"), "");
  EXPECT_FALSE(query_value("keys=a&key", "key").has_value());
  EXPECT_FALSE(query_value("", "key").has_value());
}

TEST(Query, AnyBytes) {
  EXPECT_EQ(query_value("key=a%00%fF+%26%3D", "key"), std::string("a\0\xff &=", 6));
  EXPECT_EQ(query_value("key=100%&x", "key"), "100%");
  EXPECT_EQ(query_value("key=%4", "key"), "%4");
  EXPECT_EQ(query_value("key=%-1%g0", "key"), "%-1%g0");
}

}  // namespace
}  // namespace heatsink::httpd
