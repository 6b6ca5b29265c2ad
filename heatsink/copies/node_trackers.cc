// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/node_trackers.h"

#include <vector>

#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {

NodeTrackers::NodeTrackers(NodeState& shared, net::EventLoop& loop, Filler& filler)
    : shared_(shared), filler_(filler), trackers_(loop, shared.cluster, *this, options()) {}

topology::ClusterTrackerOptions NodeTrackers::options() const {
  return {.tracker = tracker_options(shared_),
          .connection = shared_.connection_options(),
          .copy_life = shared_.options().expire_after_write};
}

void NodeTrackers::options_changed() { trackers_.set_options(options()); }

void NodeTrackers::tick() {
  follow_map();
  trackers_.tick();
}

bool NodeTrackers::follow_map() {
  if (!trackers_.follow_map()) return false;
  // For what asks any server: rights, inspections, searches.
  for (const topology::NodeIndex node : trackers_.masters()) {
    const std::vector<net::ResolvedAddress> addresses = shared_.cluster.node(node).addresses();
    if (addresses.empty()) continue;
    shared_.upstream_address.set_addresses(addresses);
    break;
  }
  return true;
}

// The voters bound what fills say, too: a master that has been replaced may still answer them.
void NodeTrackers::on_proof(topology::NodeIndex node, TimePoint voted_at,
                            std::optional<TimePoint> proven_at) {
  shared_.proofs[proof_of(node)].confirm_by_voters(voted_at);
  if (proven_at) filler_.heartbeat(proof_of(node), *proven_at);
}

}  // namespace heatsink::copies
