// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/proven_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ProvenSlotsTest : public testing::Test {
 protected:
  void forget_old(int now_ms) {
    proven.forget_old(
        at(now_ms), Millis(100), [this](std::uint16_t slot) { return kept.contains(slot); },
        [this](std::uint16_t slot) { given_up.push_back(slot); });
  }

  ProvenSlots proven;
  std::set<std::uint16_t> kept;
  std::vector<std::uint16_t> given_up;
};

TEST_F(ProvenSlotsTest, ASlotIsProvenWhileACopyOfItMayLive) {
  forget_old(0);
  proven.filled(7, at(0));
  proven.filled(9, at(50));
  proven.filled(7, at(60));
  forget_old(150);
  EXPECT_THAT(proven.slots(), ElementsAre(7, 9));
  forget_old(151);
  EXPECT_THAT(proven.slots(), ElementsAre(7));
  forget_old(161);
  EXPECT_THAT(proven.slots(), IsEmpty());
  proven.filled(9, at(200));
  EXPECT_THAT(proven.slots(), ElementsAre(9));
}

TEST_F(ProvenSlotsTest, AndWhileClientsKeepValuesOfIt) {
  kept = {7, 8};
  proven.filled(7, at(0));
  proven.filled(9, at(0));
  forget_old(10'000);
  EXPECT_THAT(proven.slots(), ElementsAre(7)) << "no copy of 8 has been filled";
  kept.clear();
  forget_old(10'001);
  EXPECT_THAT(proven.slots(), IsEmpty());
  EXPECT_THAT(given_up, IsEmpty());
}

TEST_F(ProvenSlotsTest, ButNotOfAnyNumberOfSlots) {
  constexpr std::uint16_t kSlots = ProvenSlots::kForClientsMax + 2;
  for (std::uint16_t slot = 0; slot < kSlots; ++slot) {
    proven.filled(slot, at(0));
    kept.insert(slot);
  }
  forget_old(100);
  EXPECT_THAT(proven.slots(), SizeIs(kSlots)) << "copies may need them";
  forget_old(101);
  EXPECT_THAT(proven.slots(), SizeIs(ProvenSlots::kForClientsMax));
  EXPECT_THAT(given_up, ElementsAre(kSlots - 2, kSlots - 1));
}

}  // namespace
}  // namespace heatsink::topology
