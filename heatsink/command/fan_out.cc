// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/fan_out.h"

#include <algorithm>
#include <array>
#include <string>

#include "heatsink/command/ascii.h"

namespace heatsink::proxy {
namespace {

constexpr std::array<FanOutRow, 39> kFanOutRows{{
    {"mget", FanOut::kByKey, Join::kPositions},
    {"exists", FanOut::kByKey, Join::kSum},
    {"touch", FanOut::kByKey, Join::kSum},
    {"del", FanOut::kByKey, Join::kSum},
    {"unlink", FanOut::kByKey, Join::kSum},
    {"mset", FanOut::kByPair, Join::kOk},
    {"dbsize", FanOut::kMasters, Join::kSum},
    {"keys", FanOut::kMasters, Join::kConcat},
    {"flushall", FanOut::kMasters, Join::kOk},
    {"flushdb", FanOut::kMasters, Join::kOk},
    {"randomkey", FanOut::kMasters, Join::kRandomOne},
    {"script|load", FanOut::kMasters, Join::kOk},
    {"script|flush", FanOut::kMasters, Join::kOk},
    {"script|exists", FanOut::kMasters, Join::kAll},
    {"script|kill", FanOut::kMasters, Join::kAnyOk},
    {"function|load", FanOut::kMasters, Join::kOk},
    {"function|delete", FanOut::kMasters, Join::kOk},
    {"function|flush", FanOut::kMasters, Join::kOk},
    {"function|restore", FanOut::kMasters, Join::kOk},
    {"function|kill", FanOut::kMasters, Join::kAnyOk},
    {"scan", FanOut::kCursor, Join::kOk},
    {"script|show", FanOut::kMasters, Join::kAnyOk},
    {"function|stats", FanOut::kMasters, Join::kRunning},
    {"pubsub|channels", FanOut::kMasters, Join::kUnion},
    {"pubsub|numsub", FanOut::kMasters, Join::kNamedSums},
    {"pubsub|numpat", FanOut::kMasters, Join::kSum},
    {"pubsub|shardchannels", FanOut::kMasters, Join::kUnion},
    {"pubsub|shardnumsub", FanOut::kMasters, Join::kNamedSums},
    {"config|set", FanOut::kMasters, Join::kOk},
    {"config|rewrite", FanOut::kMasters, Join::kOk},
    {"config|resetstat", FanOut::kMasters, Join::kOk},
    {"acl|setuser", FanOut::kMasters, Join::kOk},
    {"acl|deluser", FanOut::kMasters, Join::kMost},
    {"acl|load", FanOut::kMasters, Join::kOk},
    {"acl|save", FanOut::kMasters, Join::kOk},
    {"memory|purge", FanOut::kMasters, Join::kOk},
    {"cluster|countkeysinslot", FanOut::kMasters, Join::kSum},
    {"cluster|getkeysinslot", FanOut::kMasters, Join::kConcat},
    {"cluster|flushslot", FanOut::kMasters, Join::kOk},  // OK also at a node without the slot
}};

constexpr std::array<std::string_view, 10> kOfOneNode{{"bind", "port", "tls-port", "cluster-port",
                                                       "unixsocket", "dir", "dbfilename", "logfile",
                                                       "pidfile", "syslog-ident"}};
constexpr std::array<std::string_view, 4> kOfOneNodePrefixes{
    {"cluster-announce-", "replica-announce-", "slave-announce-", "bind-"}};

}  // namespace

const FanOutRow* fan_out_of(std::string_view command) {
  const auto* const found = std::find_if(kFanOutRows.begin(), kFanOutRows.end(),
                                         [&](const FanOutRow& row) { return row.name == command; });
  return found == kFanOutRows.end() ? nullptr : found;
}

bool sets_one_node(std::span<const std::string_view> args) {
  for (std::size_t i = 2; i < args.size(); i += 2) {
    const std::string name = lower_case(args[i]);
    const bool differs = std::ranges::find(kOfOneNode, name) != kOfOneNode.end() ||
                         std::ranges::any_of(kOfOneNodePrefixes, [&](std::string_view prefix) {
                           return name.starts_with(prefix);
                         });
    if (differs) return true;
  }
  return false;
}

}  // namespace heatsink::proxy
