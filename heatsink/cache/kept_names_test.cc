// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/kept_names.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace heatsink::cache {
namespace {

TEST(KeptNamesTest, ANameIsKeptUntilEachTableThatHasItHasRemovedIt) {
  KeptNames kept;
  EXPECT_FALSE(kept.any());
  kept.add({7}, 1);
  kept.add({7}, 1);
  EXPECT_TRUE(kept.has({7}));
  EXPECT_FALSE(kept.has({8}));
  EXPECT_EQ(kept.size(), 2U);
  kept.remove({7}, 1);
  EXPECT_TRUE(kept.has({7}));
  kept.remove({7}, 1);
  EXPECT_FALSE(kept.has({7}));
  EXPECT_FALSE(kept.any());
}

TEST(KeptNamesTest, ASlotIsKeptAsLongAsANameOfIt) {
  constexpr std::uint16_t kSlot = 16'383;
  KeptNames kept;
  kept.add({7}, kSlot);
  kept.add({8}, kSlot);
  kept.remove({7}, kSlot);
  EXPECT_TRUE(kept.has_slot(kSlot));
  EXPECT_FALSE(kept.has_slot(0));
  kept.remove({8}, kSlot);
  EXPECT_FALSE(kept.has_slot(kSlot));
}

TEST(KeptNamesTest, AChangeOfTheSlotIsOneOfTheName) {
  KeptNames kept;
  const std::uint32_t before = kept.changes({7}, 3);
  kept.note_slot_change(4);
  kept.note_change({8});
  EXPECT_EQ(kept.changes({7}, 3), before);
  kept.note_slot_change(3);
  EXPECT_EQ(kept.changes({7}, 3), before + 1);
  kept.note_change({7});
  EXPECT_EQ(kept.changes({7}, 3), before + 2);
}

// The order of the header: a registration that finds the copy valid is seen by the change that ends
// the copy. `is_valid` stands for the copy.
TEST(KeptNamesTest, AChangeAndARegistrationAtTheSameTimeSeeEachOther) {
  constexpr int kRounds = 20'000;
  constexpr NameHash kName{42};
  std::atomic<int> round{0}, ready{0};
  std::atomic<bool> is_valid{true};
  KeptNames kept;
  bool was_seen = false;
  std::thread keeper([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() < i) {
      }
      is_valid.exchange(false);
      was_seen = kept.has(kName);
      ready.store(i);
    }
  });
  int lost = 0;
  for (int i = 1; i <= kRounds; ++i) {
    is_valid.store(true);
    round.store(i);
    kept.add(kName, 1);
    const bool registered = is_valid.load();
    while (ready.load() < i) {
    }
    if (registered && !was_seen) ++lost;
    kept.remove(kName, 1);
  }
  keeper.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace heatsink::cache
