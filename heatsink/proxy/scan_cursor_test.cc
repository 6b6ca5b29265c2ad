// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/scan_cursor.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink::proxy {
namespace {

// Node i begins at slot firsts[i], and has all slots up to the next one.
topology::SlotMap map_of(const std::vector<std::uint16_t>& firsts) {
  topology::SlotMap map;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    topology::SlotMap::Shard& shard = map.shards.emplace_back();
    shard.master = static_cast<topology::NodeIndex>(i);
    shard.first_slot = firsts[i];
    for (std::size_t slot = firsts[i]; slot < map.owners.size(); ++slot)
      map.owners[slot] = shard.master;
  }
  return map;
}

// What a client does: asks with each cursor until it is "0". `answers`: the nodes' own cursors.
std::vector<int> visited(const std::vector<topology::SlotMap>& maps,
                         const std::vector<std::uint64_t>& answers) {
  std::vector<int> nodes;
  std::string cursor = "0";
  for (std::size_t i = 0; i < 100; ++i) {
    auto at = ScanCursor::parse(cursor);
    const std::size_t version = std::min(i, maps.size() - 1);
    const auto node = at->go_on(maps[version], version + 1);
    nodes.push_back(node ? *node : -1);
    cursor = at->after(i < answers.size() ? answers[i] : 0, maps[version]).value_or("0");
    if (cursor == "0") return nodes;
  }
  return {};
}

TEST(ScanCursor, EachNodeUntilItsCursorIsZero) {
  EXPECT_EQ(visited({map_of({0, 5000, 10000})}, {7, 9, 0, 0, 1, 0}),
            (std::vector<int>{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(visited({map_of({0})}, {}), (std::vector<int>{0}));
}

TEST(ScanCursor, AfterAChangeTheNodeBeginsAgainAndTheScanOnceMore) {
  const auto before = map_of({0, 5000}), after = map_of({0, 6000});
  // The second node lost slots to the first while it was scanned.
  EXPECT_EQ(visited({before, before, after}, {0, 5, 0, 0, 0, 0, 0}),
            (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

TEST(ScanCursor, ANodesCursorComesBackUnlessTheMapHasChanged) {
  const auto map = map_of({0, 5000});
  auto cursor = ScanCursor::parse("0");
  ASSERT_TRUE(cursor->go_on(map, 700));
  const auto text = cursor->after(ScanCursor::kInnerMax, map);
  ASSERT_TRUE(text);
  auto next = ScanCursor::parse(*text);
  EXPECT_EQ(next->go_on(map, 700), topology::NodeIndex{0});
  EXPECT_EQ(next->inner, ScanCursor::kInnerMax);
  EXPECT_FALSE(cursor->after(ScanCursor::kInnerMax + 1, map));
  auto other = ScanCursor::parse(*text);
  EXPECT_TRUE(other->go_on(map, 701));
  EXPECT_EQ(other->inner, 0U);
}

TEST(ScanCursor, WhatIsNoCursor) {
  EXPECT_FALSE(ScanCursor::parse("x"));
  EXPECT_FALSE(ScanCursor::parse("-1"));
  EXPECT_FALSE(ScanCursor::parse("99999999999999999999"));
  auto cursor = ScanCursor::parse("0");
  EXPECT_FALSE(cursor->go_on(topology::SlotMap(), 1));
}

}  // namespace
}  // namespace heatsink::proxy
