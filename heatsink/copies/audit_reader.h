// SPDX-License-Identifier: Apache-2.0
// The connections on which the auditor asks: one to the server, or one to each master of a cluster.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/copies/auditor.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// They track nothing and prove nothing. In a cluster each question goes to the owner of the slot by
// the map that the copies follow, too; an answer from a node that is no owner is a refusal, which
// the auditor counts as failed. The keeper's thread.
class AuditReader final : private topology::ClusterTrackers::Listener {
 public:
  // All outlive it.
  AuditReader(NodeState& shared, net::EventLoop& loop, Auditor& auditor);
  AuditReader(const AuditReader&) = delete;
  ~AuditReader();

  // Connects, the first time that the options ask for audits. Call it again when they change.
  void begin();
  // The server is a node of a cluster: asks all masters from now on.
  void begin_cluster();
  void follow_map();      // at once when there may be a new map
  void flush();           // at the end of each turn of the loop
  void watch_suspects();  // the same: has the auditor look at suspects while there are any
  void follow_server();   // another server has become the upstream
  void renew(TimePoint lost_at);
  void set_resting(bool resting);
  void options_changed();

 private:
  topology::ClusterTrackerOptions node_options() const;
  void tick();

  void on_facts(const redis::ServerFacts&) override {}
  void on_up(topology::NodeIndex) override {}
  void on_down(topology::NodeIndex, const std::string&) override {}
  void on_proof(topology::NodeIndex, TimePoint, std::optional<TimePoint>) override {}
  void on_invalidate(std::string_view) override {}
  void on_flush(topology::NodeIndex) override {}
  void on_filled(redis::FillReply& reply) override { auditor_.on_filled(reply); }
  void on_barrier(std::uint64_t) override {}
  void on_rights_changed() override {}
  void on_slot_lost(std::uint16_t) override {}
  void drop_lost_slots() override {}

  NodeState& shared_;
  net::EventLoop& loop_;
  Auditor& auditor_;
  redis::Tracker one_;
  redis::ServerConnection connection_;
  topology::ClusterTrackers nodes_;
  net::TimerId timer_ = 0;  // 0: no audit has been asked for yet
  net::TimerId suspects_timer_ = 0;
  bool in_cluster_ = false;
};

}  // namespace heatsink::copies
