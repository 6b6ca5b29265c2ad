// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/slot_tags.h"

#include <gtest/gtest.h>

#include "heatsink/resp/key_slot.h"

namespace heatsink::resp {
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
