// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/announced_map.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

const net::HostPort kAsked{"10.0.0.1", 7000};

resp::Value parsed(std::string_view wire) {
  resp::Value value;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(wire, value, used), resp::ValueStatus::kValue) << wire;
  return value;
}

std::string node(int port, const char* role, const char* health, const char* endpoint) {
  const auto bulk = [](std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
  };
  return "*10\r\n" + bulk("port") + ":" + std::to_string(port) + "\r\n" + bulk("tls-port") + ":" +
         std::to_string(port + 1) + "\r\n" + bulk("endpoint") + bulk(endpoint) + bulk("role") +
         bulk(role) + bulk("health") + bulk(health);
}

std::string shards(const std::string& nodes, int count) {
  return "*1\r\n*4\r\n$5\r\nslots\r\n*4\r\n:10\r\n:20\r\n:0\r\n:5\r\n$5\r\nnodes\r\n*" +
         std::to_string(count) + "\r\n" + nodes;
}

TEST(AnnouncedMap, ShardsWithReplicas) {
  const std::string wire =
      shards(node(7000, "master", "online", "a") + node(7010, "replica", "online", "b") +
                 node(7020, "replica", "fail", "c"),
             3);
  const auto map = parse_cluster_shards(parsed(wire), kAsked, false);
  ASSERT_TRUE(map && map->size() == 1);
  EXPECT_EQ(map->front().master.text(), "a:7000");
  ASSERT_EQ(map->front().replicas.size(), 1U);
  EXPECT_EQ(map->front().replicas.front().text(), "b:7010");
  EXPECT_EQ(map->front().slots, (std::vector<SlotRange>{{0, 5}, {10, 20}}));
  EXPECT_EQ(parse_cluster_shards(parsed(wire), kAsked, true)->front().master.text(), "a:7001");
}

TEST(AnnouncedMap, AFailedMasterBesideItsSuccessor) {
  const std::string wire =
      shards(node(7000, "master", "fail", "a") + node(7010, "master", "online", "b"), 2);
  EXPECT_EQ(parse_cluster_shards(parsed(wire), kAsked, false)->front().master.text(), "b:7010");
}

TEST(AnnouncedMap, AHostThatTheNodeDoesNotKnow) {
  for (const char* unknown : {"", "?"}) {
    const std::string wire = shards(node(7000, "master", "online", unknown), 1);
    EXPECT_EQ(parse_cluster_shards(parsed(wire), kAsked, false)->front().master.text(),
              "10.0.0.1:7000");
  }
}

TEST(AnnouncedMap, AnEndpointThatTheNodeDoesNotKnowIsItsIp) {
  const std::string ip = "$2\r\nip\r\n$8\r\n10.0.0.9\r\n";
  std::string known = node(7000, "master", "online", "?");
  known.replace(0, 3, "*12").append(ip);
  const auto map = parse_cluster_shards(parsed(shards(known, 1)), kAsked, false);
  EXPECT_EQ(map->front().master.text(), "10.0.0.9:7000");
}

TEST(AnnouncedMap, AShardWithoutMasterIsLeftOut) {
  const std::string wire = shards(node(7010, "replica", "online", "b"), 1);
  const auto map = parse_cluster_shards(parsed(wire), kAsked, false);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->empty());
}

TEST(AnnouncedMap, AMasterWithoutSlotsIsLast) {
  const std::string empty =
      "*4\r\n$5\r\nslots\r\n*0\r\n$5\r\nnodes\r\n*1\r\n" + node(7005, "master", "online", "new");
  const std::string full = shards(node(7000, "master", "online", "a"), 1).substr(4);
  const auto map = parse_cluster_shards(parsed("*2\r\n" + empty + full), kAsked, false);
  ASSERT_TRUE(map && map->size() == 2);
  EXPECT_EQ(map->front().master.text(), "a:7000");
  EXPECT_EQ(map->back().master.text(), "new:7005");
  EXPECT_TRUE(map->back().slots.empty());
}

TEST(AnnouncedMap, SlotsOfOneMasterInSeveralRanges) {
  const auto map = parse_cluster_slots(
      parsed("*2\r\n*4\r\n:9\r\n:10\r\n*2\r\n$1\r\na\r\n:1\r\n*2\r\n$1\r\nb\r\n:2\r\n"
             "*4\r\n:0\r\n:5\r\n*2\r\n$1\r\na\r\n:1\r\n*2\r\n$1\r\nb\r\n:2\r\n"),
      kAsked);
  ASSERT_TRUE(map && map->size() == 1);
  EXPECT_EQ(map->front().slots, (std::vector<SlotRange>{{0, 5}, {9, 10}}));
  EXPECT_EQ(map->front().replicas.size(), 1U);
}

TEST(AnnouncedMap, ConfigEpochsAreThoseOfTheMasters) {
  const std::string range = "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n";
  auto map = parse_cluster_slots(parsed(range), kAsked);
  ASSERT_TRUE(map && map->size() == 1);
  EXPECT_EQ(map->front().id, "id");
  resp::Value nodes;
  nodes.type = resp::Value::Type::kString;
  nodes.text =
      "other a:2@3 slave id 0 0 9 connected\nid a:1@2,host myself,master - 0 0 17 connected "
      "0-16383\n";
  note_config_epochs(nodes, *map);
  EXPECT_EQ(map->front().config_epoch, 17U);
  EXPECT_FALSE(map->front().has_failed);
  for (const bool has_failed : {true, false}) {
    nodes.text =
        std::string("id a:1@2 master,") + (has_failed ? "fail" : "fail?") + " - 0 0 18 connected\n";
    note_config_epochs(nodes, *map);
    EXPECT_EQ(map->front().has_failed, has_failed);
    EXPECT_EQ(map->front().config_epoch, 18U);
  }
  auto unknown = parse_cluster_slots(parsed(range), kAsked);
  for (const char* text : {"", "\n\n", "id", "id a:1@2 master - 0 0 x connected",
                           "id a:1@2 master - 0 0 99999999999999999999 connected"}) {
    nodes.text = text;
    note_config_epochs(nodes, *unknown);
    EXPECT_FALSE(unknown->front().config_epoch) << text;
  }
  nodes.type = resp::Value::Type::kError;
  note_config_epochs(nodes, *unknown);
  EXPECT_FALSE(unknown->front().config_epoch);
}

TEST(AnnouncedMap, OtherFormsAreRefused) {
  for (const char* wire : {":1\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:16384\r\n*0\r\n",
                           "*1\r\n*3\r\n:5\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n"}) {
    EXPECT_FALSE(parse_cluster_slots(parsed(wire), kAsked)) << wire;
    EXPECT_FALSE(parse_cluster_shards(parsed(wire), kAsked, false)) << wire;
  }
}

TEST(AnnouncedMap, TheViewOfANode) {
  resp::Value info;
  info.type = resp::Value::Type::kString;
  info.text = "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_current_epoch:7\r\n";
  ASSERT_TRUE(parse_cluster_info(info));
  EXPECT_TRUE(parse_cluster_info(info)->is_ok);
  EXPECT_EQ(parse_cluster_info(info)->current_epoch, 7U);
  info.text = "redis_version:7.0.15\r\n";
  EXPECT_FALSE(parse_cluster_info(info));
}

}  // namespace
}  // namespace heatsink::topology
