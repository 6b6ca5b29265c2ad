// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_slot.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::resp {
namespace {

// The answers of redis-server 7.0.15 to CLUSTER KEYSLOT.
TEST(KeySlot, IsThatOfTheServer) {
  EXPECT_EQ(key_slot(""), 0);
  EXPECT_EQ(key_slot("foo"), 12182);
  EXPECT_EQ(key_slot("123456789"), 12739);
  EXPECT_EQ(key_slot("\xff\x01"), 5086);
}

TEST(KeySlot, OfAHashTagIfThereIsOne) {
  EXPECT_EQ(key_slot("{user1000}.following"), 3443);
  EXPECT_EQ(key_slot("{user1000}.following"), key_slot("user1000"));
  EXPECT_EQ(key_slot("foo{}{bar}"), 8363) << "an empty tag is none";
  EXPECT_EQ(key_slot("foo{{bar}}zap"), 4015) << "the tag is {bar";
  EXPECT_EQ(key_slot("foo{bar}{zap}"), 5061) << "the first tag counts";
  EXPECT_EQ(key_slot("a{b"), 13340) << "without an end it is none";
}

TEST(KeySlot, HashTagIsWhatIsInTheFirstBraces) {
  EXPECT_EQ(hash_tag("a{b}{c}"), "b");
  EXPECT_EQ(hash_tag("{{b}}"), "{b");
  EXPECT_EQ(hash_tag("a{}{b}"), "") << "the first braces decide";
  EXPECT_EQ(hash_tag("a}b{c"), "");
}

TEST(KeySlot, BytesOfAnyValueAreHashed) {
  EXPECT_NE(key_slot(std::string("a\0b", 3)), key_slot("a"));
}

}  // namespace

namespace {

TEST(SlotTags, EachSlotHasOneOfAtMostFourCharacters) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const auto number = static_cast<std::uint16_t>(slot);
    EXPECT_LE(tag_of_slot(number).size(), 4U);
    EXPECT_EQ(key_slot(name_in_slot(number, "a{b}c")), slot);
  }
}

}  // namespace

}  // namespace heatsink::resp
