// SPDX-License-Identifier: Apache-2.0
// Parses what a server says about its replication: the reply to INFO replication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/topology/leader_roles.h"

namespace heatsink::topology {

struct ReplicationInfo {
  static constexpr std::size_t kReplicasMax = 32;  // further ones are ignored

  Role role = Role::kUnknown;
  std::string history = {};  // master_replid: the name of the stream of writes
  // A master: of the last write in the stream. A replica: of the last one that it has applied.
  std::int64_t offset = -1;
  // A replica:
  std::string follows = {};  // "host:port" of its master, as it knows it
  bool is_linked = false;    // its link to the master is up, as far as it knows
  bool is_syncing = false;   // it loads a whole copy of the master's data
  // A master: the replicas that it knows of, where they say they are.
  std::vector<net::HostPort> replicas = {};
};

// nullopt: it is no such text. The text is hostile: numbers and addresses are checked.
std::optional<ReplicationInfo> parse_replication(std::string_view info);

}  // namespace heatsink::topology
