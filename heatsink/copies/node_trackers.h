// SPDX-License-Identifier: Apache-2.0
// Brings what the trackers of a cluster say to the filler and to the proofs of the nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/copies/filler.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// The keeper's thread.
class NodeTrackers final : private topology::ClusterTrackers::Listener {
 public:
  // All outlive it.
  NodeTrackers(NodeState& shared, net::EventLoop& loop, Filler& filler);
  NodeTrackers(const NodeTrackers&) = delete;

  // At once when there may be a new map (topology::ClusterTrackers).
  bool follow_map();  // true: it has other nodes or owners
  // Call it often: lets the trackers send what is due.
  void tick();
  void options_changed();

  topology::ClusterTrackers& trackers() { return trackers_; }
  const topology::ClusterTrackers& trackers() const { return trackers_; }

 private:
  static cache::ProofIndex proof_of(topology::NodeIndex node) {
    return topology::ClusterTrackers::proof_index(node);
  }
  topology::ClusterTrackerOptions options() const;

  void on_facts(const redis::ServerFacts& facts) override { filler_.on_facts(facts); }
  void on_up(topology::NodeIndex node) override { filler_.up(proof_of(node)); }
  void on_down(topology::NodeIndex node, const std::string& reason) override {
    filler_.down(proof_of(node), reason);
  }
  void on_proof(topology::NodeIndex node, TimePoint voted_at,
                std::optional<TimePoint> proven_at) override;
  void on_invalidate(std::string_view name) override { filler_.on_invalidate(name); }
  void on_flush(topology::NodeIndex node) override { filler_.flush(proof_of(node)); }
  void on_server_use(topology::NodeIndex node, const redis::ServerUse& use) override {
    filler_.server_use(proof_of(node), use);
  }
  void on_filled(redis::FillReply& reply) override { filler_.on_filled(reply); }
  void on_barrier(std::uint64_t token) override { filler_.on_barrier(token); }
  void on_rights_changed() override { filler_.on_rights_changed(); }
  void on_slot_lost(std::uint16_t slot) override { filler_.slot_lost(slot); }
  void drop_lost_slots() override { filler_.drop_lost_slots(); }
  bool keeps_slot(std::uint16_t slot) const override { return shared_.kept_names.has_slot(slot); }

  NodeState& shared_;
  Filler& filler_;
  topology::ClusterTrackers trackers_;
};

}  // namespace heatsink::copies
