// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/direct_mapped_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink {
namespace {

using SmallTable = DirectMappedTable<std::uint64_t, int, 8>;

TEST(DirectMappedTable, FindsWhatWasPut) {
  SmallTable table;
  EXPECT_EQ(table.find(3), nullptr);
  table.put(3, 30);
  table.put(4, 40);
  ASSERT_NE(table.find(3), nullptr);
  EXPECT_EQ(*table.find(3), 30);
  EXPECT_EQ(*table.find(4), 40);
  table.put(3, 31);
  EXPECT_EQ(*std::as_const(table).find(3), 31);
}

TEST(DirectMappedTable, CollidingKeysOverwriteEachOther) {
  SmallTable table;
  table.put(3, 30);
  EXPECT_EQ(table.find(11), nullptr) << "the same place";
  table.put(11, 110);
  EXPECT_EQ(table.find(3), nullptr);
  EXPECT_EQ(*table.find(11), 110);
}

TEST(DirectMappedTable, AClaimedSlotKeepsItsOwnValueAndLosesThatOfAnotherKey) {
  SmallTable table;
  EXPECT_EQ(table.claim(3), 0);
  table.claim(3) += 5;
  EXPECT_EQ(table.claim(3), 5);
  EXPECT_EQ(table.claim(11), 0);
  EXPECT_EQ(table.claim(3), 0);
}

TEST(DirectMappedTable, OnlyTheKeyThatHasTheSlotIsErased) {
  SmallTable table;
  table.put(3, 30);
  table.erase(11);
  EXPECT_NE(table.find(3), nullptr);
  table.erase(3);
  EXPECT_EQ(table.find(3), nullptr);
  EXPECT_EQ(table.slot(3).key, 0u);
}

TEST(DirectMappedTable, AFreeSlotHasTheFirstKeyAndNoValue) {
  SmallTable table;
  ASSERT_NE(table.find(0), nullptr) << "as its comment says";
  EXPECT_EQ(*table.find(0), 0);
}

TEST(DirectMappedTable, AHashIsFoundByItsValueAndOtherKeysByAFunction) {
  DirectMappedTable<KeyHash, int, 4> by_hash;
  by_hash.put(KeyHash{6}, 1);
  EXPECT_EQ(by_hash.find(KeyHash{2}), nullptr);
  EXPECT_EQ(*by_hash.find(KeyHash{6}), 1);
  EXPECT_EQ(&by_hash.slot(KeyHash{2}), &by_hash.slot(KeyHash{6}));

  struct Tenth {
    std::size_t operator()(int key) const { return static_cast<std::size_t>(key / 10); }
  };
  DirectMappedTable<int, int, 4, Tenth> by_tenth;
  EXPECT_EQ(&by_tenth.slot(12), &by_tenth.slot(59));
  EXPECT_NE(&by_tenth.slot(12), &by_tenth.slot(22));
}

TEST(DirectMappedTable, CostsItsEntriesAndNothingElse) {
  EXPECT_EQ(sizeof(DirectMappedTable<KeyHash, std::uint64_t, 1024>), 16u * 1024);
}

}  // namespace
}  // namespace heatsink
