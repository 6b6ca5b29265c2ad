// SPDX-License-Identifier: Apache-2.0
// Reads which nodes are the masters of a cluster from the answer of one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

struct ClusterMaster {
  net::HostPort address;  // as announced
  std::uint16_t first_slot = 0;
  std::size_t slots = 0;  // from 1 on: who has none has no keys
};
using ClusterMap = std::vector<ClusterMaster>;  // by first slot

// Replies to CLUSTER SHARDS (Redis 7.0 on) and CLUSTER SLOTS, RESP2 or RESP3. `asked`: who
// answered, whose host is meant where a node does not know its own. `tls`: its TLS port is wanted.
// What is no such reply: nothing. A master without a usable address is left out.
std::optional<ClusterMap> parse_cluster_shards(const resp::Value& reply, const net::HostPort& asked,
                                               bool tls);
std::optional<ClusterMap> parse_cluster_slots(const resp::Value& reply, const net::HostPort& asked);

}  // namespace heatsink::observe
