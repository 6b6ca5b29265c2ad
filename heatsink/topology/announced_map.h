// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of a cluster and their slots from the answer of one node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/resp/resp.h"

namespace heatsink::topology {

struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;  // included
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

// One master as a node announces it, with its slots and replicas.
struct AnnouncedShard {
  net::HostPort master;
  std::vector<net::HostPort> replicas;
  std::vector<SlotRange> slots;  // empty: a master that is new, or has given all of them away
};
using AnnouncedMap = std::vector<AnnouncedShard>;  // by first slot; those without slots are last

// Parse the replies to CLUSTER SHARDS (Redis 7.0 and later) and CLUSTER SLOTS, in RESP2 or RESP3;
// nothing if the reply has another form. `asked` is the node that answered; its host stands in
// where a node does not know its own. With `tls` the TLS ports are used (CLUSTER SLOTS shows the
// ports of the asking connection's kind, and no master without slots). A master without a usable
// address is left out, as are replicas that are not online.
std::optional<AnnouncedMap> parse_cluster_shards(const resp::Value& reply,
                                                 const net::HostPort& asked, bool tls);
std::optional<AnnouncedMap> parse_cluster_slots(const resp::Value& reply,
                                                const net::HostPort& asked);

// What CLUSTER INFO says about the view of the node that answered.
struct ClusterView {
  bool is_ok = false;  // cluster_state
  std::uint64_t current_epoch = 0;
};
// Nothing: not the reply to CLUSTER INFO.
std::optional<ClusterView> parse_cluster_info(const resp::Value& reply);

}  // namespace heatsink::topology
