// SPDX-License-Identifier: Apache-2.0
// Tracks the keys of a cluster: one tracker for each master, and what their proofs mean together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/copies/filler.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// The keeper's thread. Before the directory has a map it has no tracker, and every fill fails.
//
// A copy may be served while all of this holds: the tracker of its node has lost nothing since the
// fill (generation); the node has proven the slot, and a majority of the masters has shown no sign
// of another master (topology::EpochQuorum), both within max-staleness. A slot that a node says is
// not its, or that has another owner in a new map, loses its copies.
class NodeTrackers final : public redis::FillSource {
 public:
  // All outlive it.
  NodeTrackers(NodeState& shared, net::EventLoop& loop, Filler& filler);
  ~NodeTrackers();
  NodeTrackers(const NodeTrackers&) = delete;

  // At once when there may be a new map: workers use it from then on, and a fill from the owner
  // before would bring back what a client no longer sees.
  void follow_map();
  // Call it often: lets the trackers send what is due.
  void tick();
  void flush();  // after each call that may have added output
  void set_resting(bool resting);
  void options_changed();
  void retry();  // connects now to nodes that wait for their next attempt

  std::size_t tracked_names() const;
  // "", or why no copy is served.
  std::string problem() const;
  bool is_any_reachable() const;

  void fill(redis::FillId id, const redis::FillQuestion& question, TimePoint now) override;
  void barrier(std::uint64_t token, TimePoint now) override;
  void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) override;
  void ask_eviction(TimePoint now) override;
  bool eviction_known() const override;
  bool evicts_by_use() const override;
  bool rights_known() const override;
  bool is_up() const override;
  std::uint16_t proof_of(std::string_view key) const override;

 private:
  class Node;

  static cache::ProofIndex proof_index(topology::NodeIndex node) {
    return static_cast<cache::ProofIndex>(node + 1);
  }
  redis::TrackerOptions options() const;
  void follow_nodes(const topology::SlotMap& map);
  Node* owner_of(std::string_view key) const;
  // The slots with copies, or with fills under way, that this node owns; at least one of its slots.
  std::span<const std::uint16_t> slots_to_prove(topology::NodeIndex node);
  void note_slot(std::uint16_t slot, TimePoint now);
  void heard_epoch(topology::NodeIndex node, std::uint64_t epoch, TimePoint asked_at);
  void publish(Node& node);
  void publish_all();
  void barrier_passed(std::uint64_t token);

  NodeState& shared_;
  net::EventLoop& loop_;
  Filler& filler_;
  std::shared_ptr<const topology::SlotMap> map_;
  std::uint64_t map_version_ = 0;
  std::uint64_t map_epoch_ = 0;
  topology::EpochQuorum quorum_;
  bool rests_ = false;
  std::map<topology::NodeIndex, std::unique_ptr<Node>> nodes_;
  // A slot needs a proof as long as a copy of it may live after its last fill.
  std::vector<TimePoint> filled_at_;               // by slot
  std::vector<std::uint16_t> active_;              // the slots with a recent fill
  std::vector<bool> is_active_;                    // by slot
  std::vector<std::uint16_t> to_prove_;            // the result of slots_to_prove()
  std::map<std::uint64_t, std::size_t> barriers_;  // by token: the trackers that have not answered
};

}  // namespace heatsink::copies
