// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/cluster_heat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::copies {
namespace {

using HeatKind = heat::Kind;

constexpr TimePoint kBegin{std::chrono::seconds(1000)};
constexpr TimePoint kNow{std::chrono::seconds(1010)};

// Node i has the slots from i * 100 on.
topology::SlotMap map_of(std::size_t nodes) {
  topology::SlotMap map;
  for (std::size_t i = 0; i < resp::kSlots; ++i)
    map.owners[i] = static_cast<topology::NodeIndex>(std::min(i / 100, nodes - 1));
  for (std::size_t i = 0; i < nodes; ++i) {
    topology::SlotMap::Shard& shard = map.shards.emplace_back();
    shard.master = static_cast<topology::NodeIndex>(i);
    shard.first_slot = static_cast<std::uint16_t>(i * 100);
  }
  return map;
}

class ClusterHeat : public ::testing::Test {
 protected:
  ClusterHeat() { counts_->tick(kBegin); }

  // One in kSampled is counted.
  void ask(std::uint16_t slot, double per_second) {
    const double counted = per_second * 10 / topology::SlotCounts::kSampled;
    for (int i = 0; i < static_cast<int>(counted); ++i) counts_->add(slot);
  }
  heat::Moment moment(std::size_t nodes) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < nodes; ++i) names.push_back("n" + std::to_string(i));
    heat::Moment out;
    add_cluster(out, map_of(nodes), names, *counts_, kNow);
    return out;
  }
  using Rates = std::vector<std::pair<std::string, int>>;
  static Rates named(const heat::Moment& moment, HeatKind kind) {
    Rates out;
    for (const heat::Item& item : moment.items)
      if (item.identity.kind == kind)
        out.emplace_back(item.identity.name, static_cast<int>(std::lround(item.rate)));
    return out;
  }

  std::unique_ptr<topology::SlotCounts> counts_ = std::make_unique<topology::SlotCounts>();
};

TEST_F(ClusterHeat, NodesAndSlotsHaveTheCommandsThatTheProxySends) {
  ask(7, 800);
  ask(8, 80);
  ask(150, 2000);
  const heat::Moment seen = moment(3);
  EXPECT_EQ(named(seen, HeatKind::kNode), (Rates{{"n1", 2000}, {"n0", 880}, {"n2", 0}}));
  EXPECT_EQ(named(seen, HeatKind::kSlot), (Rates{{"150", 2000}, {"7", 800}, {"8", 80}}));
  EXPECT_DOUBLE_EQ(seen.totals.node_commands, 2880);
  EXPECT_EQ(seen.unnamed_max[2], 0) << "all slots with commands are named";
  EXPECT_EQ(seen.unnamed_max[3], 0);
}

TEST_F(ClusterHeat, TheBusiestAreNamedAndTheOthersBounded) {
  for (std::uint16_t slot = 0; slot < 50; ++slot) ask(slot * 100, 1000.0 + 8 * slot);
  const heat::Moment seen = moment(50);
  const Rates slots = named(seen, HeatKind::kSlot);
  ASSERT_EQ(slots.size(), heat::kPerMoment[2]);
  EXPECT_EQ(slots.front(), (std::pair<std::string, int>("4900", 1392)));
  EXPECT_EQ(slots.back().second, 1392 - 8 * 15);
  EXPECT_EQ(seen.unnamed_max[2], 1392 - 8 * 16);
  const Rates nodes = named(seen, HeatKind::kNode);
  ASSERT_EQ(nodes.size(), heat::kPerMoment[3]);
  EXPECT_EQ(nodes.front(), (std::pair<std::string, int>("n49", 1392)));
  EXPECT_EQ(seen.unnamed_max[3], 1392 - 8 * 32);
}

TEST_F(ClusterHeat, EvenLoadNamesNoSlot) {
  for (std::uint16_t slot = 0; slot < resp::kSlots; ++slot) ask(slot, slot == 9 ? 16 : 8);
  const heat::Moment seen = moment(3);
  EXPECT_TRUE(named(seen, HeatKind::kSlot).empty());
  EXPECT_EQ(seen.unnamed_max[2], 16);
  EXPECT_EQ(named(seen, HeatKind::kNode).size(), 3U);
}

TEST_F(ClusterHeat, NothingIsKnownBeforeTheCountBeganOrWithoutACluster) {
  heat::Moment none;
  const topology::SlotCounts begins;
  add_cluster(none, map_of(1), {"n0"}, begins, kNow);
  topology::ClusterDirectory single{net::RedisUrl{}};
  add_cluster(none, single, *counts_, kNow);
  EXPECT_TRUE(none.items.empty());
  EXPECT_TRUE(std::isnan(none.totals.node_commands));
  EXPECT_TRUE(std::isnan(none.unnamed_max[2]));
}

}  // namespace
}  // namespace heatsink::copies
