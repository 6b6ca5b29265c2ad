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
  EXPECT_TRUE(directory.publish(halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001}), asked, 1));
  const std::uint64_t first = directory.version();
  EXPECT_FALSE(directory.publish(halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001}), asked, 1));
  EXPECT_EQ(directory.version(), first);
  const NodeIndex high = directory.map()->owner(16383);
  EXPECT_EQ(directory.node(high).where(), "127.0.0.1:7001");
  EXPECT_EQ(directory.node(high).url().password, "secret");
  EXPECT_FALSE(directory.node(high).addresses().empty());
  EXPECT_TRUE(directory.publish(halves({"127.0.0.1", 7002}, {"127.0.0.1", 7001}), asked, 2));
  EXPECT_GT(directory.version(), first);
  EXPECT_EQ(directory.map()->owner(16383), high);
  EXPECT_EQ(directory.node(directory.map()->owner(0)).where(), "127.0.0.1:7002");
  EXPECT_EQ(directory.index_of(directory.node(high)), high);
}

TEST(ClusterDirectory, AMasterWithoutSlotsIsKnownAndNotInTheMap) {
  ClusterDirectory directory(seed());
  const net::HostPort asked{"127.0.0.1", 7000};
  AnnouncedMap announced = halves({"127.0.0.1", 7000}, {"127.0.0.1", 7001});
  announced.push_back({{"127.0.0.1", 7002}, {}, {}});
  EXPECT_FALSE(directory.knows({"127.0.0.1", 7002}, asked));
  EXPECT_TRUE(directory.publish(announced, asked, 1));
  EXPECT_TRUE(directory.knows({"127.0.0.1", 7002}, asked));
  EXPECT_EQ(directory.map()->shards.size(), 2U);
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
