// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "heatsink/resp/resp.h"
#include "heatsink/spread/names.h"

namespace heatsink::spread {
namespace {

using Slots = std::vector<std::uint16_t>;

// Ranges of equal length, as redis-cli --cluster create makes them.
Slots ranges(std::size_t nodes) {
  Slots owners(resp::kSlots);
  for (std::size_t slot = 0; slot < owners.size(); ++slot)
    owners[slot] = static_cast<std::uint16_t>(slot * nodes / resp::kSlots);
  return owners;
}

std::map<std::uint16_t, std::size_t> by_node(const Slots& slots, const Slots& owners) {
  std::map<std::uint16_t, std::size_t> copies;
  for (const std::uint16_t slot : slots) ++copies[owners[slot]];
  return copies;
}

TEST(SpreadLayout, TextAndBack) {
  const Layout layout{1700000000000, {12, 5473, 10934}};
  EXPECT_EQ(to_text(layout), "hs1 1700000000000 12,5473,10934");
  EXPECT_EQ(parse_layout(to_text(layout)), layout);
}

TEST(SpreadLayout, RefusesEverythingElse) {
  for (const char* text :
       {"", "hs1", "hs1 ", "hs1 1", "hs1 1 ", "hs2 1 2", "hs1 -1 2", "hs1 1 16384", "hs1 1 -2",
        "hs1 1 2,", "hs1 1 ,2", "hs1 1 2,,3", "hs1 1 2,2", "hs1 1 02", "hs1 01 2", "hs1 1  2",
        "hs1 1 2 ", "hs1 99999999999999999999 2", "hs1 1 2\n"})
    EXPECT_EQ(parse_layout(text), std::nullopt) << text;
  std::string many = "hs1 1 0";
  for (std::size_t i = 1; i <= kPiecesMax; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(parse_layout(many), std::nullopt);
}

TEST(SpreadLayout, EachNodeGetsEquallyMany) {
  for (const std::size_t nodes : {1U, 2U, 3U, 5U, 20U}) {
    const Slots owners = ranges(nodes);
    for (const std::size_t count : {1U, 2U, 3U, 4U, 6U, 64U}) {
      const Slots slots = choose_slots(777, count, owners);
      ASSERT_EQ(slots.size(), count);
      Slots sorted = slots;
      std::ranges::sort(sorted);
      EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
      const auto copies = by_node(slots, owners);
      EXPECT_EQ(copies.size(), std::min(count, nodes));
      for (const auto& [node, number] : copies) EXPECT_LE(number, (count + nodes - 1) / nodes);
    }
  }
}

// Random names would not: four of them are on 2.4 of 3 nodes.
TEST(SpreadLayout, AlsoIfSlotsAlternate) {
  Slots owners(resp::kSlots);
  for (std::size_t slot = 0; slot < owners.size(); ++slot)
    owners[slot] = static_cast<std::uint16_t>(slot % 3);
  EXPECT_EQ(by_node(choose_slots(5, 6, owners), owners),
            (std::map<std::uint16_t, std::size_t>{{0, 2}, {1, 2}, {2, 2}}));
}

TEST(SpreadLayout, TheNodeOfTheKeyComesLast) {
  const Slots owners = ranges(3);
  const Slots slots = choose_slots(0, 2, owners);
  for (const std::uint16_t slot : slots) EXPECT_NE(owners[slot], owners[0]);
}

TEST(SpreadLayout, FewSlotsAndNone) {
  Slots owners(resp::kSlots, kNoOwner);
  EXPECT_TRUE(choose_slots(1, 4, owners).empty());
  owners[9] = 3;
  EXPECT_EQ(choose_slots(1, 4, owners), Slots{9});
}

TEST(SpreadLayout, IsReplacedForAReason) {
  const Slots owners = ranges(3);
  const Layout good{0, choose_slots(100, 3, owners)};
  EXPECT_EQ(better_slots(good, 100, 3, owners), std::nullopt);
  EXPECT_EQ(better_slots(good, 100, 2, owners), std::nullopt) << "more copies than asked for stay";
  EXPECT_EQ(better_slots(good, 100, 6, owners)->size(), 6U);
  EXPECT_TRUE(better_slots({0, {1, 2, 3}}, 100, 3, owners)) << "all on one node";
  Slots added = owners;  // a node came, and has taken slots that have no copy
  for (std::size_t slot = 6000; slot < 7000; ++slot) added[slot] = 3;
  EXPECT_EQ(better_slots(good, 100, 3, added), std::nullopt) << "0 and 1 copies are even";
  Slots lost = owners;
  lost[good.slots[0]] = kNoOwner;
  EXPECT_TRUE(better_slots(good, 100, 3, lost));
}

// A change that changes nothing would be made again each minute.
TEST(SpreadLayout, WhatCannotBeBetterStays) {
  Slots owners(resp::kSlots, 0);
  owners[7] = 1;  // one node has a single slot
  const Layout layout{0, choose_slots(100, 6, owners)};
  EXPECT_EQ(better_slots(layout, 100, 6, owners), std::nullopt);
}

}  // namespace
}  // namespace heatsink::spread
