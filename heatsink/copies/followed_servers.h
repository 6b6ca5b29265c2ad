// SPDX-License-Identifier: Apache-2.0
// Holds the keeper's connections to the servers, and follows the servers when they move.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "heatsink/copies/access_probe.h"
#include "heatsink/copies/audit_reader.h"
#include "heatsink/copies/auditor.h"
#include "heatsink/copies/filler.h"
#include "heatsink/copies/idle_keep_alive.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/node_trackers.h"
#include "heatsink/copies/paced_timers.h"
#include "heatsink/copies/rights_check.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/report/report.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// One server with one tracker, or the masters of a cluster with one tracker each: from then on the
// first one is not used. Beside them the connections on which the auditor asks, and the probes for
// rights. What the trackers say goes to the filler at once, in wire order.
//
// It knows nothing about hot keys, orders or workers. The keeper's thread, except where it says
// "any thread".
class FollowedServers final : private topology::FollowedMaster::Listener {
 public:
  class Owner {
   public:
    // Another server has become the upstream, or none is known; no copy may be served any more, and
    // NodeState::upstream_address says so. The trackers follow after this call, the auditor's
    // connection, too.
    virtual void server_moved() = 0;
    // NodeState::cluster has a map with other nodes or owners.
    virtual void map_changed() = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it. The filler gets its source of fills, the auditor its reader.
  FollowedServers(NodeState& shared, net::EventLoop& loop, Filler& filler, Auditor& auditor,
                  Owner& owner);
  ~FollowedServers();
  FollowedServers(const FollowedServers&) = delete;

  // Connects. Its timers are never slower than `timers`.
  void begin(PacedTimers& timers);
  // Twice per heartbeat interval: a late tick then delays a heartbeat by half an interval at most.
  void tick();
  void keep_keys_alive();  // every IdleKeepAlive::kInterval
  // The tracker of a single server sends what is due. end_turn(): all connections do.
  void flush() { tracker_connection_.flush(); }
  void end_turn();
  // NodeState has other options.
  void follow_options(const redis::Credentials& before);

  // Keys that replicas answer, for keep_keys_alive().
  void set_read_from_replicas(std::vector<IdleKeepAlive::Key> keys) {
    keep_alive_.set_read_from_replicas(std::move(keys));
  }
  // A tracker has learned this in its handshake: it is called from within the tracker.
  void learn(const redis::ServerFacts& facts);
  void rights_changed();
  // As Filler::Listener::proof_state_changed() has it.
  void proof_state_changed(bool is_up);
  // `done` as in AccessProbe::check().
  void check_access(std::function<void()> done) { access_.check(std::move(done)); }
  // If the server does not report each change of the rights, a probe must check. Twice per
  // acl-staleness.
  void check_access_if_unreported();

  // Any thread. The server has refused a write because it is a replica.
  void writes_refused() { master_.doubt(); }
  // A worker has reached the server: the trackers retry now.
  void retry();
  // A shared connection that broke at `lost_at` is back. Another server may own the address by now,
  // and copies must come from the server that receives the writes. So older connections are
  // replaced, too.
  void renew(TimePoint lost_at);

  // The server shows the rights of the proxy's user, so that it reports their changes.
  bool rights_known() const { return source().rights_known(); }
  // "up", or a sentence why no copies are served.
  std::string coherence() const;
  void add_to(report::Report& report) const;

 private:
  void begin_watch(PacedTimers& timers);
  void leave_master() override;
  void follow_master() override;
  void master_told(const topology::FollowedMaster::Change& change) override;
  void master_confirmed(TimePoint at) override { shared_.proof.confirm(at); }

  void begin_cluster();
  void tick_cluster();
  void follow_map();
  void refresh_map(std::optional<topology::NodeIndex> hint);
  std::string cluster_problem() const;
  const redis::FillSource& source() const;

  NodeState& shared_;
  net::EventLoop& loop_;
  Filler& filler_;
  Owner& owner_;
  redis::Tracker tracker_;
  redis::ServerConnection tracker_connection_;
  topology::ClusterConnections cluster_;
  topology::SlotStatsPoll slot_stats_;
  NodeTrackers nodes_;  // in use once cluster_ has begun, instead of tracker_
  std::atomic<bool> refresh_posted_{false};
  IdleKeepAlive keep_alive_;
  AccessProbe access_;
  RightsCheck rights_;
  AuditReader audit_reader_;
  topology::FollowedMaster master_;
};

}  // namespace heatsink::copies
