// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_directory.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

AnnouncedMap halves(net::HostPort low, net::HostPort high) {
  return {{std::move(low), {}, {{0, 8191}}}, {std::move(high), {}, {{8192, 16383}}}};
}

net::RedisUrl seed() { return *net::parse_upstream_url("redis+cluster://:secret@127.0.0.1:7000"); }

TEST(ClusterDirectory, NumbersOfNodesStayAndMapsReplaceEachOther) {
  ClusterDirectory directory(seed());
  EXPECT_EQ(directory.version(), 0U);
  EXPECT_EQ(directory.map(), nullptr);
  const net::HostPort asked{"127.0.0.1", 7000};
  EXPECT_TRUE(directory.publish(halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001}), asked, 1).is_new);
  const std::uint64_t first = directory.version();
  EXPECT_FALSE(
      directory.publish(halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001}), asked, 1).is_new);
  EXPECT_EQ(directory.version(), first);
  const NodeIndex high = directory.map()->owner(16383);
  EXPECT_EQ(directory.node(high).where(), "127.0.0.1:7001");
  EXPECT_EQ(directory.node(high).url().password, "secret");
  EXPECT_FALSE(directory.node(high).addresses().empty());
  EXPECT_TRUE(directory.publish(halves({"127.0.0.1", 7002}, {"127.0.0.1", 7001}), asked, 2).is_new);
  EXPECT_GT(directory.version(), first);
  EXPECT_EQ(directory.map()->owner(16383), high);
  EXPECT_EQ(directory.node(directory.map()->owner(0)).where(), "127.0.0.1:7002");
  EXPECT_EQ(directory.index_of(directory.node(high)), high);
}

class OwnersOfASlot : public testing::Test {
 protected:
  static constexpr std::size_t kHalf = 8192;

  static net::HostPort at(std::uint16_t port) { return {"127.0.0.1", port}; }
  // 7000 has the first half but its last slot, 7001 the rest; with these config epochs.
  static AnnouncedMap announced(std::optional<std::uint64_t> low_epoch,
                                std::optional<std::uint64_t> high_epoch) {
    return {
        {.master = at(7000), .replicas = {}, .slots = {{0, 8190}}, .config_epoch = low_epoch},
        {.master = at(7001), .replicas = {}, .slots = {{8191, 16383}}, .config_epoch = high_epoch}};
  }
  // The other one has all but one slot, as 7000 saw it before.
  static AnnouncedMap older(std::uint64_t low_epoch, std::uint64_t high_epoch) {
    return {{.master = at(7000), .replicas = {}, .slots = {{0, 16382}}, .config_epoch = low_epoch},
            {.master = at(7001),
             .replicas = {},
             .slots = {{16383, 16383}},
             .config_epoch = high_epoch}};
  }
  OwnersOfASlot() { directory_.publish(announced(1, 3), at(7000), 3); }
  std::uint16_t owner() {
    return directory_.node(directory_.map()->owner(8191)).url().address.port;
  }

  ClusterDirectory directory_{seed()};
};

TEST_F(OwnersOfASlot, TheHigherConfigEpochStays) {
  const auto published = directory_.publish(older(1, 3), at(7000), 3);
  EXPECT_FALSE(published.is_new);
  EXPECT_EQ(published.doubtful, directory_.node_at(at(7001), at(7000)));
  EXPECT_EQ(owner(), 7001);
  ASSERT_EQ(directory_.map()->shards.size(), 2U);
  EXPECT_EQ(directory_.map()->shards[0].slots, 8191U);
  EXPECT_EQ(directory_.map()->shards[1].first_slot, 8191);
  // A node that has not even heard of the epoch.
  EXPECT_TRUE(directory_.publish(older(1, 2), at(7002), 3).doubtful);
  EXPECT_EQ(owner(), 7001);
}

TEST_F(OwnersOfASlot, AHigherConfigEpochTakesIt) {
  const auto published = directory_.publish(older(4, 3), at(7000), 4);
  EXPECT_TRUE(published.is_new);
  EXPECT_FALSE(published.doubtful);
  EXPECT_EQ(owner(), 7000);
}

TEST_F(OwnersOfASlot, TheOwnerItselfMayGiveItAway) {
  EXPECT_FALSE(directory_.publish(older(1, 3), at(7001), 3).doubtful);
  EXPECT_EQ(owner(), 7000);
}

// A node that has voted, and has not heard of the new master, takes that one for a replica.
TEST_F(OwnersOfASlot, AnOwnerThatIsStillTakenForAReplicaStays) {
  const AnnouncedMap all = {
      {.master = at(7000), .replicas = {at(7001)}, .slots = {{0, 16383}}, .config_epoch = 1}};
  EXPECT_TRUE(directory_.publish(all, at(7000), 3).doubtful);
  EXPECT_EQ(owner(), 7001);
  ASSERT_EQ(directory_.map()->shards.size(), 2U);
  EXPECT_EQ(directory_.map()->shards[1].slots, 8193U);
}

TEST_F(OwnersOfASlot, ANodeThatKnowsNoOwnerDoesNotTakeItAway) {
  AnnouncedMap gap = announced(1, 3);
  gap[1].slots = {{8192, 16383}};
  EXPECT_EQ(directory_.publish(gap, at(7000), 3).doubtful, directory_.node_at(at(7001), at(7001)));
  EXPECT_EQ(owner(), 7001);
  EXPECT_FALSE(directory_.publish(gap, at(7001), 3).doubtful);
  EXPECT_EQ(directory_.map()->owner(8191), kNoNode);
}

TEST_F(OwnersOfASlot, AnOwnerThatIsNotThereLosesIt) {
  const AnnouncedMap all = {
      {.master = at(7000), .replicas = {}, .slots = {{0, 16383}}, .config_epoch = 1}};
  EXPECT_FALSE(directory_.publish(all, at(7000), 3).doubtful);
  EXPECT_EQ(owner(), 7000);
}

TEST_F(OwnersOfASlot, AnOwnerThatHasFailedLosesIt) {
  AnnouncedMap failed = older(1, 3);
  failed[1].has_failed = true;
  EXPECT_FALSE(directory_.publish(failed, at(7000), 3).doubtful);
  EXPECT_EQ(owner(), 7000);
}

TEST_F(OwnersOfASlot, WithoutConfigEpochsTheLastAnnouncementCounts) {
  AnnouncedMap unknown = older(1, 3);
  unknown[0].config_epoch.reset();
  EXPECT_FALSE(directory_.publish(unknown, at(7000), 3).doubtful);
  EXPECT_EQ(owner(), 7000);
}

TEST(ClusterDirectory, AMasterWithoutSlotsIsKnownAndNotInTheMap) {
  ClusterDirectory directory(seed());
  const net::HostPort asked{"127.0.0.1", 7000};
  AnnouncedMap announced = halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001});
  announced.push_back({{"127.0.0.1", 7002}, {}, {}});
  EXPECT_FALSE(directory.knows({"127.0.0.1", 7002}, asked));
  EXPECT_TRUE(directory.publish(announced, asked, 1).is_new);
  EXPECT_TRUE(directory.knows({"127.0.0.1", 7002}, asked));
  EXPECT_EQ(directory.map()->shards.size(), 2U);
}

TEST(ClusterDirectory, MastersThatAreReachedByOneAddressAreOne) {
  ClusterDirectory directory(seed());
  directory.translate_by(*AddressTranslation::parse("10.0.0.1=127.0.0.1,10.0.0.2=127.0.0.1"));
  directory.publish(halves({"10.0.0.1", 7000}, {"10.0.0.2", 7000}), {"10.0.0.1", 7000}, 1);
  ASSERT_EQ(directory.map()->shards.size(), 1U);
  EXPECT_EQ(directory.map()->shards[0].slots, 16384U);
}

TEST(ClusterDirectory, AnnouncedAddressesAreTranslated) {
  ClusterDirectory directory(seed());
  directory.translate_by(*AddressTranslation::parse("10.0.0.1=127.0.0.1"));
  const net::HostPort asked{"10.0.0.1", 7000};
  EXPECT_FALSE(directory.knows({"10.0.0.1", 7000}, asked));
  const auto named = directory.node_at({"10.0.0.1", 7000}, asked);
  EXPECT_TRUE(directory.knows({"", 7000}, asked));
  // Without a host it is the host of the node that answered.
  EXPECT_EQ(directory.node_at({"", 7000}, asked), named);
  EXPECT_EQ(directory.node(*named).where(), "127.0.0.1:7000");
}

TEST(ClusterDirectory, AHostileServerCannotNameNodesWithoutEnd) {
  ClusterDirectory directory(seed());
  const net::HostPort asked{"127.0.0.1", 1};
  for (std::size_t i = 0; i < ClusterDirectory::kNodesMax; ++i)
    EXPECT_TRUE(directory.node_at({"127.0.0.1", static_cast<std::uint16_t>(i + 1)}, asked));
  EXPECT_FALSE(directory.node_at({"127.0.0.1", 60000}, asked));
  EXPECT_TRUE(directory.node_at({"127.0.0.1", 1}, asked));
}

TEST(ClusterDirectory, SaysThatTheMapIsOld) {
  ClusterDirectory directory(seed());
  std::optional<NodeIndex> hint;
  int calls = 0;
  directory.is_stale(std::nullopt);  // without a watch
  directory.on_stale([&](std::optional<NodeIndex> from) {
    ++calls;
    hint = from;
  });
  directory.is_stale(NodeIndex{3});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(hint, NodeIndex{3});
}

}  // namespace
}  // namespace heatsink::topology
