// SPDX-License-Identifier: Apache-2.0
// The nodes of a cluster as servers of keys: the map of slots, a tracker for each master, and
// connections for commands.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/cluster_connections.h"
#include "heatsink/topology/cluster_directory.h"
#include "heatsink/topology/cluster_trackers.h"
#include "heatsink/topology/key_servers.h"
#include "heatsink/topology/routed_requests.h"

namespace heatsink::topology {

// A copy depends on the node that owned its slot when it was tracked. It is proven as
// ClusterTrackers describes; its ServerIndex is ClusterTrackers::proof_index().
class ClusterNodes final : public KeyServers,
                           private ClusterTrackers::Listener,
                           private RoutedRequests::Nodes {
 public:
  // All references outlive it. The URL of the options is that of a cluster, or of one of its nodes.
  ClusterNodes(net::EventLoop& loop, const KeyServersOptions& options, ChangeListener& changes,
               KeyServers::Listener& listener);

  void begin() override;
  void tick() override;
  void flush() override;
  void close(const std::string& reason) override;
  ServerIndex server_of(std::string_view key) const override { return trackers_.proof_of(key); }
  std::uint64_t losses() const override { return losses_; }
  bool has_certain_owner(std::string_view key) const override;
  void track(redis::FillId id, std::string_view key) override;
  void ask(Words words, Done done) override;

 private:
  struct Data {  // a connection for commands
    Data(ClusterNodes& owner, NodeIndex node);
    redis::Pipeline pipeline;
    redis::ServerConnection connection;
    TimePoint used_at{};
  };

  void on_facts(const redis::ServerFacts&) override {}
  void on_up(NodeIndex node) override;
  void on_down(NodeIndex node, const std::string& reason) override;
  void on_proof(NodeIndex node, TimePoint voted_at, std::optional<TimePoint> proven_at) override;
  void on_invalidate(std::string_view name) override { changes_.on_changed(name); }
  void on_flush(NodeIndex node) override;
  void on_filled(redis::FillReply& reply) override { listener_.on_tracked(reply); }
  void on_barrier(std::uint64_t) override {}
  void on_rights_changed() override { changes_.on_all_changed(); }
  void on_slot_lost(std::uint16_t slot) override;
  void drop_lost_slots() override;

  void send(NodeIndex node, const Words& words, bool is_asking, Done done) override;
  // The reply comes from a node that has not tracked the key, so it may not become a copy.
  void on_redirected(std::string_view key) override { changes_.on_changed(key); }

  void map_is_old(std::optional<NodeIndex> hint);
  void close_idle();
  std::string problem();

  net::EventLoop& loop_;
  const net::RedisUrl url_;
  const Nanos max_staleness_;
  const redis::PipelineOptions pipeline_options_;
  const redis::ServerConnectionOptions connection_options_;
  ChangeListener& changes_;
  KeyServers::Listener& listener_;
  ClusterDirectory directory_;
  ClusterConnections map_;
  ClusterTrackers trackers_;
  RoutedRequests requests_;
  std::map<NodeIndex, std::unique_ptr<Data>> data_;
  bool is_refresh_posted_ = false;
  std::set<NodeIndex> up_;
  std::map<NodeIndex, std::string> down_;  // masters that were lost, and why
  TimePoint voted_at_{};
  std::uint64_t losses_ = 0;
  std::vector<TimePoint> lost_at_;  // by slot; empty: none was lost
  std::vector<bool> lost_slots_;    // empty: none since the last drop_lost_slots()
};

}  // namespace heatsink::topology
