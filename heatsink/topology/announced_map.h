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
  std::vector<net::HostPort> replicas{};
  std::vector<SlotRange> slots{};  // empty: a master that is new, or has given all of them away
  std::string id{};                // of the master; "": the node does not say
  std::optional<std::uint64_t> config_epoch{};  // of the master; see note_config_epochs()
  bool has_failed = false;                      // the master, as far as the node knows
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

// Notes the config epoch of each master, and whether it has failed: of two nodes that claim a slot,
// the one with the higher config epoch has it. `nodes`: the reply to CLUSTER NODES of the node that
// announced the map, from before the map, so that no master has a higher epoch than its slots in
// the map. A reply of another form, as the server gives to a user who may not ask, changes nothing.
void note_config_epochs(const resp::Value& nodes, AnnouncedMap& map);

// The facts in CLUSTER INFO about the view of the node that answered.
struct ClusterView {
  bool is_ok = false;  // cluster_state
  std::uint64_t current_epoch = 0;
};
// Nothing: not the reply to CLUSTER INFO.
std::optional<ClusterView> parse_cluster_info(const resp::Value& reply);

}  // namespace heatsink::topology
