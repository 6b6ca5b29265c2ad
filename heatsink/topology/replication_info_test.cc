// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replication_info.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::topology {
namespace {

// From Redis 7.0.15.
constexpr const char* kMasterText =
    "# Replication\r\nrole:master\r\nconnected_slaves:2\r\n"
    "slave0:ip=127.0.0.1,port=7001,state=online,offset=70,lag=1\r\n"
    "slave1:ip=::1,port=7002,state=wait_bgsave,offset=0,lag=0\r\nmaster_failover_state:no-failover"
    "\r\nmaster_replid:0123456789012345678901234567890123456789\r\n"
    "master_replid2:0000000000000000000000000000000000000000\r\nmaster_repl_offset:70\r\n";
constexpr const char* kReplicaText =
    "# Replication\r\nrole:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:7000\r\n"
    "master_link_status:up\r\nmaster_last_io_seconds_ago:1\r\nmaster_sync_in_progress:0\r\n"
    "slave_read_repl_offset:75\r\nslave_repl_offset:70\r\nslave_priority:100\r\n"
    "master_replid:0123456789012345678901234567890123456789\r\nmaster_repl_offset:75\r\n";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(ReplicationInfoTest, AMasterNamesItsReplicas) {
  const auto info = parse_replication(kMasterText);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->role, Role::kMaster);
  EXPECT_EQ(info->offset, 70);
  EXPECT_EQ(info->history, "0123456789012345678901234567890123456789");
  ASSERT_EQ(info->replicas.size(), 2U);
  EXPECT_EQ(info->replicas[0].text(), "127.0.0.1:7001");
  EXPECT_EQ(info->replicas[1].text(), "[::1]:7002");
}

TEST(ReplicationInfoTest, AReplicaCountsWhatItHasApplied) {
  const auto info = parse_replication(kReplicaText);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->role, Role::kReplica);
  EXPECT_EQ(info->offset, 70) << "not what it has only read";
  EXPECT_EQ(info->follows, "127.0.0.1:7000");
  EXPECT_EQ(parse_replication(changed(kReplicaText, "master_host", "x"))->follows, "");
  EXPECT_TRUE(info->is_linked);
  EXPECT_FALSE(info->is_syncing);
  EXPECT_FALSE(parse_replication(changed(kReplicaText, "status:up", "status:down"))->is_linked);
  EXPECT_TRUE(parse_replication(changed(kReplicaText, "progress:0", "progress:1"))->is_syncing);
  EXPECT_EQ(parse_replication(changed(kReplicaText, "slave_repl_offset:70", "x:1"))->offset, -1);
}

TEST(ReplicationInfoTest, HostileTextIsNoInfo) {
  EXPECT_FALSE(parse_replication(""));
  EXPECT_FALSE(parse_replication("-NOPERM"));
  EXPECT_FALSE(parse_replication("role:sentinel\r\nmaster_replid:a\r\n"));
  EXPECT_FALSE(parse_replication("role:master\r\nmaster_repl_offset:1\r\n"));
  EXPECT_FALSE(parse_replication(changed(kMasterText, "offset:70", "offset:-7")));
  EXPECT_FALSE(parse_replication(changed(kMasterText, "repl_offset:70", "repl_offset:7x")));
  EXPECT_FALSE(
      parse_replication(changed(kMasterText, "replid:0123", "replid:" + std::string(100, 'a'))));
  for (const char* port : {"0", "65536", "-1", "x", ""})
    EXPECT_EQ(parse_replication(changed(kMasterText, "port=7001", std::string("port=") + port))
                  ->replicas.size(),
              1U)
        << port;
  std::string many = "role:master\nmaster_replid:a\nmaster_repl_offset:1\n";
  for (int i = 0; i < 100; ++i) many += "slave" + std::to_string(i) + ":ip=a,port=1\n";
  EXPECT_EQ(parse_replication(many)->replicas.size(), ReplicationInfo::kReplicasMax);
}

}  // namespace
}  // namespace heatsink::topology
