// SPDX-License-Identifier: Apache-2.0
// Tracks the keys of a cluster: one tracker for each master, and what their proofs mean together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/cluster_directory.h"
#include "heatsink/topology/epoch_quorum.h"
#include "heatsink/topology/proven_slots.h"

namespace heatsink::topology {

struct ClusterTrackerOptions {
  redis::TrackerOptions tracker;  // is_node and gap_max are set here
  redis::ServerConnectionOptions connection;
  std::string name = "local copies";  // what the connections are for, in the log
  Nanos copy_life{0};  // of a copy after its last fill: as long as its slot needs proofs
};

// The loop's thread. Before the directory has a map it has no tracker, and every fill fails.
//
// A copy may be served while all of this holds: the tracker of its node has not been lost since the
// fill; the node has proven the slot, and a majority of the masters has shown no sign of another
// master (EpochQuorum), both within max-staleness. A slot that a node says is not its, or that has
// another owner in a new map, loses its copies.
class ClusterTrackers final : public redis::FillSource {
 public:
  // See redis::TrackerEvents; called in the order of each node's connection.
  class Listener {
   public:
    virtual void on_facts(const redis::ServerFacts& facts) = 0;
    virtual void on_up(NodeIndex node) = 0;
    // No copy from this node may be served.
    virtual void on_down(NodeIndex node, const std::string& reason) = 0;
    // The voters have last confirmed the map at `voted_at`; the node has last proven its slots at
    // `proven_at` (nothing: it is not up). Slots that were lost before lose their copies first.
    virtual void on_proof(NodeIndex node, TimePoint voted_at,
                          std::optional<TimePoint> proven_at) = 0;
    virtual void on_invalidate(std::string_view name) = 0;
    virtual void on_flush(NodeIndex node) = 0;
    virtual void on_server_use(NodeIndex /*node*/, const redis::ServerUse& /*use*/) {}
    virtual void on_filled(redis::FillReply& reply) = 0;
    virtual void on_barrier(std::uint64_t token) = 0;
    virtual void on_rights_changed() = 0;
    // No copy of the slot may be served after the next on_proof() or drop_lost_slots().
    virtual void on_slot_lost(std::uint16_t slot) = 0;
    virtual void drop_lost_slots() = 0;
    // Clients keep values of the slot, also when no copy of it lives: it is proven for them, or
    // else lost (ProvenSlots).
    virtual bool keeps_slot(std::uint16_t /*slot*/) const { return false; }

   protected:
    ~Listener() = default;
  };

  // All outlive it.
  ClusterTrackers(net::EventLoop& loop, ClusterDirectory& directory, Listener& listener,
                  ClusterTrackerOptions options);
  ~ClusterTrackers();
  ClusterTrackers(const ClusterTrackers&) = delete;

  // At once when there may be a new map: requests follow it from then on, and a fill from the owner
  // before would bring back what a client no longer sees. True: it has other nodes or owners.
  bool follow_map();
  // Call it often: lets the trackers send what is due.
  void tick();
  void flush();  // after each call that may have added output
  void set_resting(bool resting);
  void set_options(ClusterTrackerOptions options);
  void retry();                           // connects now to nodes that wait for their next attempt
  void close(const std::string& reason);  // all nodes

  std::vector<NodeIndex> masters() const;
  // cluster-node-timeout, as a node has last shown it.
  Nanos node_timeout() const { return quorum_.node_timeout(); }
  std::size_t tracked_names() const;
  // "", or why no copy is served.
  std::string problem() const;
  bool is_any_reachable() const;

  void fill(redis::FillId id, const redis::FillQuestion& question, TimePoint now) override;
  void barrier(std::uint64_t token, TimePoint now, bool after_code = false) override;
  void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) override;
  void ask_eviction(TimePoint now) override;
  bool eviction_known() const override;
  bool evicts_by_use() const override;
  bool rights_known() const override;
  bool is_up() const override;
  // 0: no node owns the key; otherwise proof_index() of its owner.
  std::uint16_t proof_of(std::string_view key) const override;
  static std::uint16_t proof_index(NodeIndex node) { return static_cast<std::uint16_t>(node + 1); }

 private:
  class Node;

  redis::TrackerOptions tracker_options() const;
  void follow_nodes(const SlotMap& map);
  Node* owner_of(std::string_view key) const;
  // Those of ProvenSlots that this node owns; at least one of its slots.
  std::span<const std::uint16_t> slots_to_prove(NodeIndex node);
  void heard_epoch(NodeIndex node, std::uint64_t epoch, TimePoint asked_at);
  bool is_agreement_late(TimePoint now) const;
  void publish(const Node& node);
  void publish_all();
  void barrier_passed(std::uint64_t token);

  net::EventLoop& loop_;
  ClusterDirectory& directory_;
  Listener& listener_;
  ClusterTrackerOptions options_;
  std::shared_ptr<const SlotMap> map_;
  std::uint64_t map_version_ = 0;
  EpochQuorum quorum_;
  bool rests_ = false;
  std::map<NodeIndex, std::unique_ptr<Node>> nodes_;
  ProvenSlots proven_slots_;
  std::vector<std::uint16_t> to_prove_;            // the result of slots_to_prove()
  std::map<std::uint64_t, std::size_t> barriers_;  // by token: the trackers that have not answered
};

}  // namespace heatsink::topology
