// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/cluster_map.h"

#include <gtest/gtest.h>

#include <string>

#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

const net::HostPort kAsked{"db7", 7000};

resp::Value value_of(std::string_view bytes) {
  resp::Value out;
  std::size_t consumed = 0;
  EXPECT_EQ(resp::parse_value(bytes, out, consumed), resp::ValueStatus::kValue);
  return out;
}

std::string node(std::string_view role, const std::string& endpoint, int port, int tls_port = 0) {
  std::vector<std::string> members = {
      bulk("id"),       bulk("abc"),      bulk("port"), number(port), bulk("ip"),
      bulk("10.0.0.9"), bulk("endpoint"), endpoint,     bulk("role"), bulk(role)};
  if (tls_port > 0) {
    members.push_back(bulk("tls-port"));
    members.push_back(number(tls_port));
  }
  return list(members);
}

std::string shard(const std::vector<int>& slots, const std::vector<std::string>& nodes) {
  std::vector<std::string> ranges;
  for (const int slot : slots) ranges.push_back(number(slot));
  return list({bulk("slots"), list(ranges), bulk("nodes"), list(nodes)});
}

TEST(ClusterMap, OfShardsHasTheMastersInTheOrderOfTheirSlots) {
  const auto map = parse_cluster_shards(
      value_of(
          list({shard({9000, 16383}, {node("replica", bulk("c"), 3), node("master", bulk("b"), 2)}),
                shard({0, 99, 200, 299}, {node("master", bulk("a"), 1)})})),
      kAsked, false);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 2U);
  EXPECT_EQ((*map)[0].address.text(), "a:1");
  EXPECT_EQ((*map)[0].slots, 200U);
  EXPECT_EQ((*map)[1].address.text(), "b:2");
  EXPECT_EQ((*map)[1].first_slot, 9000);
}

TEST(ClusterMap, WhoDoesNotKnowItsNameHasItsAddressOrThatWhichWasAsked) {
  const auto host_of = [](const std::string& endpoint) {
    const auto map = parse_cluster_shards(
        value_of(list({shard({0, 1}, {node("master", endpoint, 1)})})), kAsked, false);
    return map->at(0).address.host;
  };
  EXPECT_EQ(host_of("$-1\r\n"), "10.0.0.9");
  EXPECT_EQ(host_of(bulk("?")), "10.0.0.9");
  const auto slots = parse_cluster_slots(
      value_of(list({list({number(0), number(1), list({bulk(""), number(5)})})})), kAsked);
  EXPECT_EQ(slots->at(0).address.text(), "db7:5");
}

TEST(ClusterMap, WithTlsThatPortCounts) {
  const auto map =
      parse_cluster_shards(value_of(list({shard({0, 1}, {node("master", bulk("a"), 1, 2)}),
                                          shard({2, 3}, {node("master", bulk("plain"), 1)})})),
                           kAsked, true);
  ASSERT_EQ(map->size(), 1U);
  EXPECT_EQ((*map)[0].address.text(), "a:2");
}

TEST(ClusterMap, MastersWithoutSlotsAndShardsWithoutMasterAreLeftOut) {
  const auto map =
      parse_cluster_shards(value_of(list({shard({}, {node("master", bulk("new"), 1)}),
                                          shard({0, 1}, {node("replica", bulk("r"), 1)})})),
                           kAsked, false);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->empty());
}

TEST(ClusterMap, OfSlotsJoinsTheRangesOfAMaster) {
  const auto range = [](int first, int last, int port) {
    return list({number(first), number(last), list({bulk("10.0.0.1"), number(port), bulk("id")}),
                 list({bulk("10.0.0.2"), number(1), bulk("replica")})});
  };
  const auto map = parse_cluster_slots(
      value_of(list({range(100, 199, 7), range(0, 9, 8), range(50, 59, 7)})), kAsked);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 2U);
  EXPECT_EQ((*map)[1].address.text(), "10.0.0.1:7");
  EXPECT_EQ((*map)[1].first_slot, 50);
  EXPECT_EQ((*map)[1].slots, 110U);
}

TEST(ClusterMap, NonsenseIsNoMap) {
  EXPECT_FALSE(parse_cluster_shards(value_of("+OK\r\n"), kAsked, false));
  EXPECT_FALSE(parse_cluster_shards(value_of("*1\r\n:1\r\n"), kAsked, false));
  EXPECT_FALSE(parse_cluster_shards(
      value_of(list({shard({5, 99'999}, {node("master", bulk("a"), 1)})})), kAsked, false));
  EXPECT_FALSE(parse_cluster_slots(value_of("*1\r\n*3\r\n:5\r\n:4\r\n*0\r\n"), kAsked));
  EXPECT_FALSE(parse_cluster_slots(value_of("$1\r\nx\r\n"), kAsked));
}

}  // namespace
}  // namespace heatsink::observe
