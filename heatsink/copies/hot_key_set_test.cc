// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/hot_key_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::copies {
namespace {

TEST(HotKeySetTest, HasWhatWasAssignedLast) {
  HotKeySet set;
  EXPECT_FALSE(set.has({7}));
  EXPECT_EQ(set.assign({}), 0U);
  EXPECT_EQ(set.assign({{7}, {8}, {7}, {0}}), 2U);
  EXPECT_TRUE(set.has({7}));
  EXPECT_TRUE(set.has({8}));
  EXPECT_FALSE(set.has({9}));
  EXPECT_FALSE(set.has({0})) << "an empty cell is no key";
  EXPECT_EQ(set.assign({{8}, {9}}), 2U);
  EXPECT_FALSE(set.has({7}));
  EXPECT_TRUE(set.has({8}));
  EXPECT_TRUE(set.has({9}));
  EXPECT_EQ(set.assign({}), 0U);
  EXPECT_FALSE(set.has({8}));
}

TEST(HotKeySetTest, AFullLineLeavesOutTheRest) {
  HotKeySet set;
  std::vector<KeyHash> keys;  // all in one line
  for (std::uint64_t i = 1; i <= HotKeySet::kPerLine + 3; ++i) keys.push_back({i});
  EXPECT_EQ(set.assign(keys), HotKeySet::kPerLine);
  EXPECT_EQ(set.assign({{11}}), 1U) << "there is room again";
  EXPECT_TRUE(set.has({11}));
}

TEST(HotKeySetTest, ManyKeysFit) {
  HotKeySet set;
  std::vector<KeyHash> keys;
  for (std::uint64_t i = 0; i < 1000; ++i)
    keys.push_back(in_db(hash_name("key" + std::to_string(i), 1), 0));
  EXPECT_EQ(set.assign(keys), 1000U);
  for (const KeyHash key : keys) EXPECT_TRUE(set.has(key));
}

}  // namespace
}  // namespace heatsink::copies
