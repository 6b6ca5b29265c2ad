// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracked_names.h"

#include <gtest/gtest.h>

namespace heatsink::redis {
namespace {

TEST(TrackedNames, NoMoreThanTheirLimitAndThoseOfBefore) {
  TrackedNames names(2);
  EXPECT_TRUE(names.admit("a"));
  EXPECT_TRUE(names.admit("b"));
  EXPECT_TRUE(names.admit("a")) << "it is one of them";
  EXPECT_FALSE(names.admit("c"));
  EXPECT_EQ(names.size(), 2U);
}

TEST(TrackedNames, OneThatHasChangedMakesRoom) {
  TrackedNames names(1);
  names.admit("a");
  names.forget("another");
  EXPECT_FALSE(names.admit("b"));
  names.forget("a");
  EXPECT_TRUE(names.admit("b"));
  names.clear();
  EXPECT_EQ(names.size(), 0U);
  EXPECT_TRUE(names.admit("c"));
}

}  // namespace
}  // namespace heatsink::redis
