// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/names.h"

#include <gtest/gtest.h>

#include <set>

#include "heatsink/resp/resp.h"

namespace heatsink::spread {
namespace {

TEST(SpreadNames, AreInTheirSlots) {
  for (const char* key : {"k", "{user}:1", "a}b{c", "", "{}x"}) {
    EXPECT_EQ(resp::key_slot(layout_name(key)), resp::key_slot(key)) << key;
    for (const unsigned slot : {0U, 1U, 8191U, 16383U})
      EXPECT_EQ(resp::key_slot(copy_name(static_cast<std::uint16_t>(slot), key)), slot) << key;
    for (std::size_t part = 0; part < kPiecesMax; ++part)
      EXPECT_EQ(resp::key_slot(part_name(key, part)), part_slot(resp::key_slot(key), part)) << key;
  }
}

TEST(SpreadNames, PartZeroIsTheKey) { EXPECT_EQ(part_name("{a}n", 0), "{a}n"); }

TEST(SpreadNames, AreRecognized) {
  EXPECT_TRUE(is_own_name(copy_name(7, "k")));
  EXPECT_TRUE(is_own_name(layout_name("k")));
  EXPECT_TRUE(is_own_name(part_name("k", 1)));
  for (const char* name : {"k", "", "{", "{a}", "{a}hs:copy:k", "hs:copy:k", "x{a}:hs:copy:k"})
    EXPECT_FALSE(is_own_name(name)) << name;
}

TEST(SpreadNames, VanDerCorput) {
  const std::uint16_t expected[] = {0, 8, 4, 12, 2, 10, 6, 14, 1};
  for (std::size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(van_der_corput(i, 16), expected[i]) << i;
}

// The reason for the sequence: more parts leave the others where they are, and the slots stay far
// from each other, so that nodes with ranges of slots get about equally many.
TEST(SpreadNames, PartsOfAnyNumberAreFarFromEachOther) {
  for (std::size_t count = 2; count <= kPiecesMax; count *= 2) {
    std::set<std::uint16_t> slots;
    for (std::size_t part = 0; part < count; ++part) slots.insert(part_slot(16000, part));
    ASSERT_EQ(slots.size(), count);
    std::uint16_t before = *slots.begin();
    for (const std::uint16_t slot : slots) {
      EXPECT_TRUE(slot == before || slot - before == resp::kSlots / static_cast<int>(count));
      before = slot;
    }
  }
}

}  // namespace
}  // namespace heatsink::spread
