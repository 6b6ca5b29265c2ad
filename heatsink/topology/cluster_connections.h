// SPDX-License-Identifier: Apache-2.0
// Connects a ClusterWatch to the nodes: one connection to each node that it asks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/net/net.h"
#include "heatsink/redis/pipeline.h"
#include "heatsink/redis/server_connection.h"
#include "heatsink/topology/cluster_watch.h"

namespace heatsink::topology {

// The loop's thread. A connection that has not been used for kIdle is closed.
class ClusterConnections final : public ClusterWatch::Asker {
 public:
  static constexpr Nanos kIdle = std::chrono::seconds(60);

  // All outlive it. `credentials` are asked for at each new connection.
  ClusterConnections(net::EventLoop& loop, ClusterDirectory& directory,
                     std::function<redis::Credentials()> credentials,
                     const redis::ServerConnectionOptions& options);
  ~ClusterConnections();
  ClusterConnections(const ClusterConnections&) = delete;

  void begin(const std::vector<net::HostPort>& seeds);
  // Before begin(). Called when a node has answered: the directory may have a new map.
  void on_answer(std::function<void()> answered) { on_answer_ = std::move(answered); }
  bool has_begun() const { return watch_ != nullptr; }
  // The loop's thread. No effect before begin().
  void refresh_soon(std::optional<NodeIndex> hint);
  void tick();
  // "" or why there is no map; empty before begin().
  std::string problem() const { return watch_ == nullptr ? "" : watch_->problem(); }
  bool lacks_a_right() const { return watch_ != nullptr && watch_->lacks_a_right(); }

  void ask(NodeIndex node, bool old_form) override;
  // Sends another question on the connection to the node. Calls `done` once, not from within this
  // call, with the reply or the reason why there is none.
  void query(NodeIndex node, std::span<const std::string_view> question,
             std::function<void(const Result<resp::Value>&)> done);

 private:
  struct Link {
    Link(ClusterConnections& owner, NodeIndex node);
    redis::Pipeline pipeline;
    redis::ServerConnection connection;
    TimePoint used_at{};
  };
  Link& link_to(NodeIndex node);
  void answered(NodeIndex node, const Result<resp::Value>& map);

  net::EventLoop& loop_;
  ClusterDirectory& directory_;
  const std::function<redis::Credentials()> credentials_;
  const redis::ServerConnectionOptions options_;
  std::unique_ptr<ClusterWatch> watch_;
  std::map<NodeIndex, std::unique_ptr<Link>> links_;
  std::function<void()> on_answer_;
  net::TimerId timer_ = 0;
  ClusterWatch::Answer answer_;  // as far as it has come
};

}  // namespace heatsink::topology
