// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/scan_cursor.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink::proxy {
namespace {

using Moves = ScanCursor::Moves;

// Node i begins at slot firsts[i], and has all slots up to the next one; its scan_id is 10 * i.
topology::SlotMap map_of(const std::vector<std::uint16_t>& firsts) {
  topology::SlotMap map;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    topology::SlotMap::Shard& shard = map.shards.emplace_back();
    shard.master = static_cast<topology::NodeIndex>(i);
    shard.first_slot = firsts[i];
    shard.scan_id = static_cast<std::uint16_t>(10 * i);
    const std::size_t end = i + 1 < firsts.size() ? firsts[i + 1] : map.owners.size();
    shard.slots = end - firsts[i];
    for (std::size_t slot = firsts[i]; slot < end; ++slot) map.owners[slot] = shard.master;
  }
  return map;
}

// What a client does: asks with each cursor until it is "0". `answers`: the nodes' own cursors;
// `moves`: at the end of each pass.
std::vector<int> visited(const std::vector<topology::SlotMap>& maps,
                         const std::vector<std::uint64_t>& answers, std::vector<Moves> moves = {}) {
  std::vector<int> nodes;
  std::string cursor = "0";
  for (std::size_t i = 0; i < 100; ++i) {
    auto at = ScanCursor::parse(cursor);
    const topology::SlotMap& map = maps[std::min(i, maps.size() - 1)];
    const auto node = at->go_on(map, std::min(i, maps.size() - 1) + 1);
    nodes.push_back(node ? *node : -1);
    cursor = at->after(i < answers.size() ? answers[i] : 0, map).value_or("0");
    if (cursor.empty()) {
      cursor = at->end_pass(moves.empty() ? Moves::kNone : moves.front(), map);
      if (!moves.empty()) moves.erase(moves.begin());
    }
    if (cursor == "0") return nodes;
  }
  return {};
}

TEST(ScanCursor, EachNodeUntilItsCursorIsZero) {
  EXPECT_EQ(visited({map_of({0, 5000, 10000})}, {7, 9, 0, 0, 1, 0}),
            (std::vector<int>{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(visited({map_of({0})}, {}), (std::vector<int>{0}));
}

TEST(ScanCursor, AfterAChangeTheNodeGoesOnAndAnotherPassFollows) {
  const auto before = map_of({0, 5000}), after = map_of({0, 6000});
  EXPECT_EQ(visited({before, before, after}, {0, 5, 0}), (std::vector<int>{0, 1, 1, 0, 1}));
}

TEST(ScanCursor, WhatTheMastersSayAtTheEndDecides) {
  const auto map = map_of({0, 5000});
  EXPECT_EQ(visited({map}, {}, {Moves::kDone}), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(visited({map}, {}, {Moves::kDone, Moves::kDone}), (std::vector<int>{0, 1, 0, 1, 0, 1}));
  // One more pass, even if the move never ends.
  EXPECT_EQ(visited({map}, {}, std::vector<Moves>(50, Moves::kBegun)),
            (std::vector<int>{0, 1, 0, 1}));
}

TEST(ScanCursor, AScanEndsHoweverMuchMoves) {
  const std::vector<int> nodes =
      visited({map_of({0, 5000})}, {}, std::vector<Moves>(50, Moves::kDone));
  EXPECT_EQ(nodes.size(), 2U * ScanCursor::kPassesMax);
}

TEST(ScanCursor, ANodeThatLeavesIsPassedOver) {
  auto before = map_of({0, 5000, 10000}), after = before;
  after.shards.erase(after.shards.begin() + 1);
  EXPECT_EQ(visited({before, before, after}, {0, 5, 7, 0}), (std::vector<int>{0, 1, 2, 2, 0, 2}));
  after.shards.pop_back();  // the last node is gone while it was scanned
  EXPECT_EQ(visited({before, after}, {0, 0}), (std::vector<int>{0, 0}));
}

TEST(ScanCursor, ANodesCursorComesBack) {
  const auto map = map_of({0, 5000});
  auto cursor = ScanCursor::parse("0");
  ASSERT_TRUE(cursor->go_on(map, 700));
  const auto text = cursor->after(ScanCursor::kInnerMax, map);
  ASSERT_TRUE(text);
  auto next = ScanCursor::parse(*text);
  EXPECT_EQ(next->go_on(map, 701), topology::NodeIndex{0});
  EXPECT_EQ(next->inner, ScanCursor::kInnerMax);
  EXPECT_TRUE(next->is_dirty);
  EXPECT_FALSE(cursor->after(ScanCursor::kInnerMax + 1, map));
}

TEST(ScanCursor, WhatIsNoCursor) {
  EXPECT_FALSE(ScanCursor::parse("x"));
  EXPECT_FALSE(ScanCursor::parse("-1"));
  EXPECT_FALSE(ScanCursor::parse("99999999999999999999"));
  auto cursor = ScanCursor::parse("0");
  EXPECT_FALSE(cursor->go_on(topology::SlotMap(), 1));
}

TEST(MovesIn, ComparesANodesOwnLineWithTheMap) {
  auto map = map_of({0, 5000});
  map.epoch = 1;
  const std::string other = "b 127.0.0.1:2@12 master - 0 0 2 connected 5000-16383\n";
  const std::string own = "$99\r\na 127.0.0.1:1@11 myself,master - 0 0 1 connected ";
  EXPECT_EQ(moves_in(own + "0-4999\n" + other, 0, map), Moves::kNone);
  EXPECT_EQ(moves_in(own + "0-4000 4001 4002-4999\n\r\n", 0, map), Moves::kNone);
  EXPECT_EQ(moves_in(own + "0-4999 [7->-b]\n" + other, 0, map), Moves::kBegun);
  EXPECT_EQ(moves_in(own + "0-4998\n" + other, 0, map), Moves::kDone);
  EXPECT_EQ(moves_in(own + "0-5000\n" + other, 0, map), Moves::kDone);
  map.epoch = 0;  // its slots may have left and come back
  EXPECT_EQ(moves_in(own + "0-4999\n" + other, 0, map), Moves::kDone);
  EXPECT_EQ(moves_in("-NOPERM\r\n", 0, map), Moves::kNone);
}

}  // namespace
}  // namespace heatsink::proxy
