// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_connections.h"

#include <array>
#include <string_view>
#include <utility>

namespace heatsink::topology {

ClusterConnections::Link::Link(ClusterConnections& owner, NodeIndex node)
    : pipeline({.credentials = owner.credentials_(),
                .name = "heatsink-topology",
                .response_timeout = std::chrono::seconds(2)}),
      connection(owner.loop_, owner.directory_.node(node), pipeline, owner.options_,
                 "map of the cluster") {}

ClusterConnections::ClusterConnections(net::EventLoop& loop, ClusterDirectory& directory,
                                       std::function<redis::Credentials()> credentials,
                                       const redis::ServerConnectionOptions& options)
    : loop_(loop), directory_(directory), credentials_(std::move(credentials)), options_(options) {}

ClusterConnections::~ClusterConnections() { loop_.cancel(timer_); }

void ClusterConnections::begin(const std::vector<net::HostPort>& seeds) {
  if (watch_ != nullptr) return;
  watch_ = std::make_unique<ClusterWatch>(directory_, *this, seeds, options_.seed);
  tick();
}

void ClusterConnections::refresh_soon(std::optional<NodeIndex> hint) {
  if (watch_ == nullptr) return;
  watch_->refresh_soon(hint);
  watch_->tick(loop_.clock());
  if (timer_ == 0) {
    timer_ = loop_.call_after(ClusterWatch::kPause, [this] {
      timer_ = 0;
      watch_->tick(loop_.clock());
    });
  }
}

void ClusterConnections::tick() {
  if (watch_ == nullptr) return;
  const TimePoint now = loop_.clock();
  for (auto at = links_.begin(); at != links_.end();) {
    Link& link = *at->second;
    if (now - link.used_at > kIdle) {
      at = links_.erase(at);
      continue;
    }
    link.connection.tick();
    ++at;
  }
  watch_->tick(now);
}

ClusterConnections::Link& ClusterConnections::link_to(NodeIndex node) {
  std::unique_ptr<Link>& link = links_[node];
  if (link == nullptr) {
    link = std::make_unique<Link>(*this, node);
    link->connection.connect();
  }
  link->used_at = loop_.clock();
  return *link;
}

void ClusterConnections::query(NodeIndex node, std::span<const std::string_view> question,
                               std::function<void(const Result<resp::Value>&)> done) {
  Link& link = link_to(node);
  // Later, because a failed connection answers at once.
  link.pipeline.ask(
      question,
      [this, done = std::move(done)](const Result<resp::Value>& reply) {
        loop_.post([done, reply] { done(reply); });
      },
      link.used_at);
  link.connection.flush();
}

void ClusterConnections::ask(NodeIndex node, bool old_form) {
  Link* const link = &link_to(node);
  constexpr std::array<std::string_view, 2> kInfo = {"CLUSTER", "INFO"};
  constexpr std::array<std::string_view, 2> kNodes = {"CLUSTER", "NODES"};
  const std::array<std::string_view, 2> map = {"CLUSTER", old_form ? "SLOTS" : "SHARDS"};
  answer_ = {};
  const auto keep_in = [](resp::Value& value) {
    return [&value](const Result<resp::Value>& reply) {
      if (reply.ok()) value = *reply;
    };
  };
  link->pipeline.ask(kInfo, keep_in(answer_.info), link->used_at);
  link->pipeline.ask(kNodes, keep_in(answer_.nodes), link->used_at);
  // Later, because a failed connection answers at once.
  link->pipeline.ask(
      map,
      [this, node](const Result<resp::Value>& reply) {
        loop_.post([this, node, reply] { answered(node, reply); });
      },
      link->used_at);
  link->connection.flush();
}

void ClusterConnections::answered(NodeIndex node, const Result<resp::Value>& map) {
  if (watch_ == nullptr) return;
  if (map.ok()) {
    answer_.map = *map;
    watch_->answered(node, answer_);
    if (on_answer_) on_answer_();
  } else {
    watch_->failed(node, map.error().message);
  }
  watch_->tick(loop_.clock());
}

}  // namespace heatsink::topology
