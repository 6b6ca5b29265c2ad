// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/keys.h"

#include <gtest/gtest.h>

#include <set>

namespace heatsink::app {
namespace {

TEST(LoadKeys, EveryRankHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::uint64_t rank = 0; rank < 10'000; ++rank) names.insert(key_name(rank));
  EXPECT_EQ(names.size(), 10'000u);
  EXPECT_EQ(key_name(0), "product:1000:price");
  EXPECT_EQ(key_name(1), "session:1001");
}

TEST(LoadKeys, ValuesHaveTheirSizeAndDifferByVersion) {
  std::string one, two;
  for (const std::size_t size : {1U, 16U, 17U, 64U, 1024U}) {
    make_value(one, size, 1);
    make_value(two, size, 2);
    EXPECT_EQ(one.size(), size);
    EXPECT_NE(one, two);
  }
  make_value(one, 0, 1);
  EXPECT_EQ(one, "");
}

}  // namespace
}  // namespace heatsink::app
