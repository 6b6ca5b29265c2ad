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
  std::size_t slots = 0;  // at least 1: a master without slots has no keys and is left out
};
using ClusterMap = std::vector<ClusterMaster>;  // by first slot

// Parse the replies to CLUSTER SHARDS (Redis 7.0 and later) and CLUSTER SLOTS, in RESP2 or RESP3;
// nothing if the reply has another form. `asked` is the node that answered; its host stands in
// where a node does not know its own. With `tls` the TLS ports are used. A master without a usable
// address is left out.
std::optional<ClusterMap> parse_cluster_shards(const resp::Value& reply, const net::HostPort& asked,
                                               bool tls);
std::optional<ClusterMap> parse_cluster_slots(const resp::Value& reply, const net::HostPort& asked);

}  // namespace heatsink::observe
