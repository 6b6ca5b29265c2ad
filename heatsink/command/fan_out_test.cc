// SPDX-License-Identifier: Apache-2.0
// What each command without keys does in front of a cluster.
#include "heatsink/command/fan_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "heatsink/base/testing/source_dir.h"
#include "heatsink/command/route.h"
#include "heatsink/resp/command_table.h"

namespace heatsink::proxy {
namespace {

enum class InCluster : std::uint8_t {
  kParts,    // every master executes it
  kSame,     // each node answers the same, or refuses it because it is in a cluster
  kClient,   // it concerns the client, and the proxy sees to it
  kOneNode,  // one node answers for itself; docs/guides/clusters.md names the command
};

struct KeylessRow {
  std::string_view name;
  InCluster treated;
  Join join = Join::kOk;  // with kParts
};

// All commands without keys of Redis 7.0 to 8.6 and Valkey 8.1 to 9.1 (COMMAND), without the HELP
// of containers.
constexpr KeylessRow kKeyless[] = {
    {"acl|cat", InCluster::kSame},
    {"acl|deluser", InCluster::kParts, Join::kMost},
    {"acl|dryrun", InCluster::kOneNode},
    {"acl|genpass", InCluster::kSame},
    {"acl|getuser", InCluster::kOneNode},
    {"acl|list", InCluster::kOneNode},
    {"acl|load", InCluster::kParts},
    {"acl|log", InCluster::kOneNode},
    {"acl|save", InCluster::kParts},
    {"acl|setuser", InCluster::kParts},
    {"acl|users", InCluster::kOneNode},
    {"acl|whoami", InCluster::kSame},
    {"asking", InCluster::kClient},
    {"auth", InCluster::kClient},
    {"bgrewriteaof", InCluster::kOneNode},
    {"bgsave", InCluster::kOneNode},
    {"client|caching", InCluster::kClient},
    {"client|capa", InCluster::kClient},
    {"client|getname", InCluster::kClient},
    {"client|getredir", InCluster::kClient},
    {"client|id", InCluster::kClient},
    {"client|import-source", InCluster::kClient},
    {"client|info", InCluster::kClient},
    {"client|kill", InCluster::kOneNode},
    {"client|list", InCluster::kOneNode},
    {"client|no-evict", InCluster::kOneNode},
    {"client|no-touch", InCluster::kOneNode},
    {"client|pause", InCluster::kOneNode},
    {"client|reply", InCluster::kClient},
    {"client|setinfo", InCluster::kClient},
    {"client|setname", InCluster::kClient},
    {"client|tracking", InCluster::kClient},
    {"client|trackinginfo", InCluster::kClient},
    {"client|unblock", InCluster::kOneNode},
    {"client|unpause", InCluster::kOneNode},
    {"cluster|addslots", InCluster::kOneNode},
    {"cluster|addslotsrange", InCluster::kOneNode},
    {"cluster|bumpepoch", InCluster::kOneNode},
    {"cluster|cancelslotmigrations", InCluster::kOneNode},
    {"cluster|count-failure-reports", InCluster::kOneNode},
    {"cluster|countkeysinslot", InCluster::kParts, Join::kSum},
    {"cluster|delslots", InCluster::kOneNode},
    {"cluster|delslotsrange", InCluster::kOneNode},
    {"cluster|failover", InCluster::kOneNode},
    {"cluster|flushslot", InCluster::kParts},
    {"cluster|flushslots", InCluster::kOneNode},
    {"cluster|forget", InCluster::kOneNode},
    {"cluster|getkeysinslot", InCluster::kParts, Join::kConcat},
    {"cluster|getslotmigrations", InCluster::kOneNode},
    {"cluster|info", InCluster::kOneNode},
    {"cluster|keyslot", InCluster::kSame},
    {"cluster|links", InCluster::kOneNode},
    {"cluster|meet", InCluster::kOneNode},
    {"cluster|migrateslots", InCluster::kOneNode},
    {"cluster|migration", InCluster::kOneNode},
    {"cluster|myid", InCluster::kOneNode},
    {"cluster|myshardid", InCluster::kOneNode},
    {"cluster|nodes", InCluster::kOneNode},
    {"cluster|replicas", InCluster::kOneNode},
    {"cluster|replicate", InCluster::kOneNode},
    {"cluster|reset", InCluster::kOneNode},
    {"cluster|saveconfig", InCluster::kOneNode},
    {"cluster|set-config-epoch", InCluster::kOneNode},
    {"cluster|setslot", InCluster::kOneNode},
    {"cluster|shards", InCluster::kOneNode},
    {"cluster|slaves", InCluster::kOneNode},
    {"cluster|slot-stats", InCluster::kOneNode},
    {"cluster|slots", InCluster::kOneNode},
    {"cluster|syncslots", InCluster::kOneNode},
    {"command", InCluster::kSame},
    {"command|count", InCluster::kSame},
    {"command|docs", InCluster::kSame},
    {"command|getkeys", InCluster::kSame},
    {"command|getkeysandflags", InCluster::kSame},
    {"command|info", InCluster::kSame},
    {"command|list", InCluster::kSame},
    {"commandlog|get", InCluster::kOneNode},
    {"commandlog|len", InCluster::kOneNode},
    {"commandlog|reset", InCluster::kOneNode},
    {"config|get", InCluster::kOneNode},
    {"config|resetstat", InCluster::kParts},
    {"config|rewrite", InCluster::kParts},
    {"config|set", InCluster::kParts},
    {"dbsize", InCluster::kParts, Join::kSum},
    {"debug", InCluster::kOneNode},
    {"discard", InCluster::kClient},
    {"echo", InCluster::kSame},
    {"exec", InCluster::kClient},
    {"failover", InCluster::kSame},
    {"flushall", InCluster::kParts},
    {"flushdb", InCluster::kParts},
    {"function|delete", InCluster::kParts},
    {"function|dump", InCluster::kOneNode},
    {"function|flush", InCluster::kParts},
    {"function|kill", InCluster::kParts, Join::kAnyOk},
    {"function|list", InCluster::kOneNode},
    {"function|load", InCluster::kParts},
    {"function|restore", InCluster::kParts},
    {"function|stats", InCluster::kParts, Join::kRunning},
    {"hello", InCluster::kClient},
    {"hotkeys|get", InCluster::kOneNode},
    {"hotkeys|reset", InCluster::kOneNode},
    {"hotkeys|start", InCluster::kOneNode},
    {"hotkeys|stop", InCluster::kOneNode},
    {"info", InCluster::kOneNode},
    {"keys", InCluster::kParts, Join::kConcat},
    {"lastsave", InCluster::kOneNode},
    {"latency|doctor", InCluster::kOneNode},
    {"latency|graph", InCluster::kOneNode},
    {"latency|histogram", InCluster::kOneNode},
    {"latency|history", InCluster::kOneNode},
    {"latency|latest", InCluster::kOneNode},
    {"latency|reset", InCluster::kOneNode},
    {"lolwut", InCluster::kSame},
    {"memory|doctor", InCluster::kOneNode},
    {"memory|malloc-stats", InCluster::kOneNode},
    {"memory|purge", InCluster::kParts},
    {"memory|stats", InCluster::kOneNode},
    {"module|list", InCluster::kOneNode},
    {"module|load", InCluster::kOneNode},
    {"module|loadex", InCluster::kOneNode},
    {"module|unload", InCluster::kOneNode},
    {"monitor", InCluster::kOneNode},
    {"multi", InCluster::kClient},
    {"pfselftest", InCluster::kSame},
    {"ping", InCluster::kSame},
    {"psubscribe", InCluster::kClient},
    {"psync", InCluster::kOneNode},
    {"publish", InCluster::kOneNode},
    {"pubsub|channels", InCluster::kParts, Join::kUnion},
    {"pubsub|numpat", InCluster::kParts, Join::kSum},
    {"pubsub|numsub", InCluster::kParts, Join::kNamedSums},
    {"pubsub|shardchannels", InCluster::kParts, Join::kUnion},
    {"pubsub|shardnumsub", InCluster::kParts, Join::kNamedSums},
    {"punsubscribe", InCluster::kClient},
    {"quit", InCluster::kClient},
    {"randomkey", InCluster::kParts, Join::kRandomOne},
    {"readonly", InCluster::kClient},
    {"readwrite", InCluster::kClient},
    {"replconf", InCluster::kOneNode},
    {"replicaof", InCluster::kSame},
    {"reset", InCluster::kClient},
    {"role", InCluster::kOneNode},
    {"save", InCluster::kOneNode},
    {"scan", InCluster::kParts},
    {"script|debug", InCluster::kClient},
    {"script|exists", InCluster::kParts, Join::kAll},
    {"script|flush", InCluster::kParts},
    {"script|kill", InCluster::kParts, Join::kAnyOk},
    {"script|load", InCluster::kParts},
    {"script|show", InCluster::kParts, Join::kAnyOk},
    {"select", InCluster::kClient},
    {"shutdown", InCluster::kOneNode},
    {"slaveof", InCluster::kSame},
    {"slowlog|get", InCluster::kOneNode},
    {"slowlog|len", InCluster::kOneNode},
    {"slowlog|reset", InCluster::kOneNode},
    {"subscribe", InCluster::kClient},
    {"swapdb", InCluster::kSame},
    {"sync", InCluster::kOneNode},
    {"time", InCluster::kOneNode},
    {"trimslots", InCluster::kOneNode},
    {"unsubscribe", InCluster::kClient},
    {"unwatch", InCluster::kClient},
    {"wait", InCluster::kClient},
    {"waitaof", InCluster::kClient},
};

TEST(FanOut, EachCommandWithoutKeysIsJoinedOrAnsweredByOneNodeOnPurpose) {
  for (const KeylessRow& row : kKeyless) {
    const FanOutRow* const found = fan_out_of(row.name);
    EXPECT_EQ(found != nullptr, row.treated == InCluster::kParts) << row.name;
    if (found == nullptr) continue;
    EXPECT_EQ(found->join, row.join) << row.name;
    EXPECT_GE(found->fan_out, FanOut::kMasters) << row.name;
  }
}

TEST(FanOut, TheTableAboveIsWhole) {
  for (const resp::Command& command : resp::CommandTable::built_in().commands()) {
    const bool has_keys =
        command.first_key != 0 || !command.key_specs.empty() || command.has(resp::kMovableKeys);
    if (has_keys || command.is_container || command.name.ends_with("|help")) continue;
    EXPECT_TRUE(std::ranges::any_of(kKeyless, [&](const KeylessRow& row) {
      return row.name == command.name;
    })) << command.name;
  }
}

// Redis and Valkey mark these with request_policy:multi_shard. Keys of MSETNX and MSETEX in several
// slots would be written at several moments.
TEST(FanOut, CommandsOfSeveralKeys) {
  for (const char* name : {"del", "exists", "mget", "touch", "unlink"})
    EXPECT_EQ(fan_out_of(name)->fan_out, FanOut::kByKey) << name;
  EXPECT_EQ(fan_out_of("mset")->fan_out, FanOut::kByPair);
  for (const char* name : {"msetnx", "msetex"}) EXPECT_EQ(fan_out_of(name), nullptr) << name;
}

std::string clusters_page() {
  std::ifstream file(std::string(kSourceDir) + "/docs/guides/clusters.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string documented_as(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += c == '|' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

TEST(FanOut, WhatOneNodeAnswersIsInTheGuide) {
  const std::string page = clusters_page();
  ASSERT_FALSE(page.empty());
  for (const KeylessRow& row : kKeyless) {
    if (row.treated != InCluster::kOneNode && row.treated != InCluster::kParts) continue;
    const std::string name = documented_as(row.name);
    const std::string container = name.substr(0, name.find(' '));
    const bool is_named = page.find("`" + name + "`") != std::string::npos ||
                          page.find("`" + container + "`") != std::string::npos;
    EXPECT_TRUE(is_named) << name;
  }
}

TEST(FanOut, SettingsThatDifferBetweenNodesGoToOne) {
  const auto sets = [](std::vector<std::string_view> args) { return sets_one_node(args); };
  EXPECT_FALSE(sets({"CONFIG", "SET", "notify-keyspace-events", "KEA"}));
  EXPECT_FALSE(sets({"CONFIG", "SET"}));
  EXPECT_TRUE(sets({"CONFIG", "SET", "Cluster-Announce-IP", "10.0.0.5"}));
  EXPECT_TRUE(sets({"CONFIG", "SET", "maxmemory", "1", "port", "7"}));
  EXPECT_FALSE(sets({"CONFIG", "SET", "maxmemory", "port"}));
}

}  // namespace
}  // namespace heatsink::proxy
