// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracked_names.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

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

// The same answers as those of a set, in a seeded order that lets rows grow and shrink.
TEST(TrackedNames, ManyNamesComeAndGo) {
  constexpr std::size_t kMax = 900;
  TrackedNames names(kMax);
  std::set<std::string> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = std::to_string(random() % 1200);
    if (random() % 3 == 0) {
      names.forget(name);
      expected.erase(name);
    } else {
      const bool fits = expected.contains(name) || expected.size() < kMax;
      ASSERT_EQ(names.admit(name), fits) << i;
      if (fits) expected.insert(name);
    }
    ASSERT_EQ(names.size(), expected.size()) << i;
  }
}

}  // namespace
}  // namespace heatsink::redis
