// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/cluster_servers.h"

#include <algorithm>
#include <utility>

#include "heatsink/upstream/connection_owner.h"

namespace heatsink::proxy {

ClusterServers::ClusterServers(ServersState& shared, net::EventLoop& loop,
                               copies::Counters& counters, Upstreams::Host& host,
                               Upstream::Host& replies, std::uint64_t random)
    : shared_(shared),
      loop_(loop),
      counters_(counters),
      host_(host),
      random_(random),
      home_(&shared.upstream_address),
      refusals_(static_cast<ClusterRefusals::Owner&>(*this), shared, loop, counters, replies) {}

ClusterServers::~ClusterServers() {
  loop_.cancel(look_timer_);
  loop_.cancel(owed_timer_);
}

// ---- which server

// One look per turn, so that all requests of a turn follow the same map.
void ClusterServers::follow_map() {
  if (std::exchange(looked_, true)) return;
  if (shared_.cluster.epoch_version() == version_) return;
  version_ = shared_.cluster.epoch_version();
  const std::shared_ptr<const topology::SlotMap> before =
      std::exchange(map_, shared_.cluster.map());
  mark_nodes(before.get());
  // What waits for a node that is away may be for another node now.
  for (Node& node : nodes_) node.server->wake_waiting();
}

void ClusterServers::mark_nodes(const topology::SlotMap* before) {
  for (Node& node : nodes_) {
    const auto is_its = [&](const topology::SlotMap::Shard& shard) {
      return &shared_.cluster.node(shard.master) == node.address;
    };
    const bool was_in_map = std::exchange(node.in_map, std::ranges::any_of(map_->shards, is_its));
    if (node.in_map) node.is_replaced = false;
    if (node.in_map || !was_in_map) continue;
    node.left_at = loop_.now();
    node.is_replaced = before != nullptr && has_replaced(*node.address, *before);
    if (node.is_replaced) end_owed_in(Nanos(0));  // not at once: a session may be on the call stack
  }
}

// Whether an owner of one of the server's slots has a higher config epoch than the server had.
bool ClusterServers::has_replaced(const redis::UpstreamAddress& server,
                                  const topology::SlotMap& before) const {
  const std::optional<topology::NodeIndex> index = shared_.cluster.index_of(server);
  if (!index) return false;
  const auto its_epoch = before.config_epochs.find(*index);
  if (its_epoch == before.config_epochs.end()) return false;
  for (std::size_t slot = 0; slot < before.owners.size(); ++slot) {
    if (before.owners[slot] != *index) continue;
    const auto found = map_->config_epochs.find(map_->owners[slot]);
    if (found != map_->config_epochs.end() && found->second > its_epoch->second) return true;
  }
  return false;
}

void ClusterServers::map_changed() {
  follow_map();
  if (version_ == shared_.cluster.epoch_version() || look_timer_ != 0) return;
  look_timer_ = loop_.call_after(Nanos(0), [this] {
    look_timer_ = 0;
    follow_map();
  });
}

// Sooner than check_timeouts(), which may come late.
void ClusterServers::end_owed_in(Nanos pause) {
  if (owed_timer_ != 0) return;
  owed_timer_ = loop_.call_after(pause, [this] {
    owed_timer_ = 0;
    end_owed(loop_.now());
  });
}

// Nothing else ends what a stopped node owes on private connections: scripts may take long. A
// session whose connection ends may send a read again, and so add a node: hence the list.
void ClusterServers::end_owed(TimePoint now) {
  std::vector<Node*> gone;  // they stay until the end of the turn
  for (Node& node : nodes_)
    if (!node.in_map) gone.push_back(&node);
  for (Node* const each : gone) {
    Node& node = *each;
    const Nanos patience = node.is_replaced ? kLastAnswers : shared_.options().response_timeout;
    if (const Nanos left = node.left_at + patience - now; left > Nanos(0)) {
      if (node.is_replaced) end_owed_in(left);
      continue;
    }
    node.left_at = now;
    if (node.is_replaced) {
      refusals_.refuse_those_for(*node.address);
      node.server->leave(std::string(kReplaced));
    }
    if (node.borrowed > 0) host_.node_left(*node.address);
  }
}

std::uint64_t ClusterServers::map_version() {
  follow_map();
  return version_;
}

ClusterServers::Node& ClusterServers::node_of(redis::UpstreamAddress& server) {
  // Nearly always the same one, so that a search and its division are saved.
  if (latest_node_ != nullptr && latest_server_ == &server) return *latest_node_;
  Node*& found = by_address_[&server];
  if (found == nullptr) found = &nodes_.emplace_back();
  Node& node = *found;
  latest_server_ = &server;
  latest_node_ = &node;
  if (node.server == nullptr) {
    node.address = &server;
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    node.server = std::make_unique<SingleServer>(shared_, server, loop_, counters_,
                                                 static_cast<Upstreams::Host&>(*this), random_);
  }
  return node;
}

SingleServer& ClusterServers::of(const Upstream& connection) {
  return *node_of(connection.server()).server;
}

SingleServer& ClusterServers::at(const Destination& to) {
  follow_map();
  if (redis::UpstreamAddress* const server = to.server()) return *node_of(*server).server;
  if (map_ == nullptr) return *node_of(shared_.upstream_address).server;
  const std::optional<std::uint16_t> slot = to.slot();
  const topology::NodeIndex owner = slot ? map_->owner(*slot) : topology::kNoNode;
  // A node without the slot says what is wrong: MOVED, or CLUSTERDOWN if no node has it.
  return *node_of(owner == topology::kNoNode ? home() : shared_.cluster.node(owner)).server;
}

redis::UpstreamAddress& ClusterServers::home() {
  const auto is_usable = [&](redis::UpstreamAddress& server) {
    return !node_of(server).server->is_away(Destination::any());
  };
  bool is_master = false;
  for (const topology::SlotMap::Shard& shard : map_->shards)
    is_master |= &shared_.cluster.node(shard.master) == home_;
  if (is_master && is_usable(*home_)) return *home_;
  for (const topology::SlotMap::Shard& shard : map_->shards) {
    redis::UpstreamAddress& server = shared_.cluster.node(shard.master);
    if (&server == home_ || !is_usable(server)) continue;
    home_ = &server;
    return server;
  }
  if (!is_master && !map_->shards.empty())
    home_ = &shared_.cluster.node(map_->shards.front().master);
  return *home_;
}

std::vector<redis::UpstreamAddress*> ClusterServers::all_masters() {
  follow_map();
  std::vector<redis::UpstreamAddress*> out;
  if (map_ == nullptr) return out;
  out.reserve(map_->shards.size());
  for (const topology::SlotMap::Shard& shard : map_->shards)
    out.push_back(&shared_.cluster.node(shard.master));
  return out;
}

// ---- private connections

std::unique_ptr<Upstream> ClusterServers::borrow(ConnectionOwner& session, const Destination& to,
                                                 const Need& need) {
  std::unique_ptr<Upstream> connection = at(to).borrow(session, to, need);
  if (connection != nullptr) ++node_of(connection->server()).borrowed;
  return connection;
}

// A command without keys may run on any node.
bool ClusterServers::carries(const Upstream& connection, const Destination& to) {
  follow_map();
  if (to.server() != nullptr) return to.server() == &connection.server();
  if (map_ == nullptr) return true;
  const std::optional<std::uint16_t> slot = to.slot();
  if (!slot) return node_of(connection.server()).in_map;
  const topology::NodeIndex owner = map_->owner(*slot);
  return owner == topology::kNoNode || &shared_.cluster.node(owner) == &connection.server();
}

void ClusterServers::give_back(std::unique_ptr<Upstream> connection, bool clean) {
  Node& node = node_of(connection->server());
  if (node.borrowed > 0) --node.borrowed;
  node.server->give_back(std::move(connection), clean);
}

std::unique_ptr<Upstream> ClusterServers::adopt(ConnectionOwner& session, net::Stream connection,
                                                const CarriedPrivate& state) {
  redis::UpstreamAddress* const server =
      shared_.cluster.is_expected() ? node_behind(connection) : &shared_.upstream_address;
  if (server == nullptr) return nullptr;
  Node& node = node_of(*server);
  std::unique_ptr<Upstream> adopted = node.server->adopt(session, std::move(connection), state);
  if (adopted != nullptr) ++node.borrowed;
  return adopted;
}

// The other process may have found the node before this one has a map. Its address is that of a map
// to come, unless the cluster announces host names.
redis::UpstreamAddress* ClusterServers::node_behind(const net::Stream& connection) {
  topology::ClusterDirectory& known = shared_.cluster;
  const std::string text = net::peer_text(connection.fd());
  for (std::size_t i = 0; i < known.nodes(); ++i) {
    redis::UpstreamAddress& node = known.node(static_cast<topology::NodeIndex>(i));
    if (is_at(text, node)) return &node;
  }
  const Result<net::HostPort> peer = net::parse_host_port(text);
  if (!peer.ok()) return nullptr;
  const std::optional<topology::NodeIndex> index = known.node_at(*peer, *peer);
  return index ? &known.node(*index) : nullptr;
}

void ClusterServers::discard(std::unique_ptr<Upstream> connection) {
  Node& node = node_of(connection->server());
  if (node.borrowed > 0) --node.borrowed;
  node.server->discard(std::move(connection));
}

// ---- what the connections report

// Without a login nothing has come from the node yet: the kernel of a stopped one accepts, too.
void ClusterServers::ready(Upstream& connection) {
  Node& node = node_of(connection.server());
  if (connection.login() == Upstream::Login::kOwn) node.is_replaced = false;
  node.server->ready(connection);
}

void ClusterServers::failed(Upstream& connection, const std::string& reason) {
  // A node that was restarted has no scripts.
  if (connection.was_ready() && (connection.owner() != nullptr || !connection.is_private()))
    shared_.scripts.forget_at(connection.server());
  // A private connection that fails is not given back.
  if (Node& node = node_of(connection.server()); connection.owner() != nullptr && node.borrowed > 0)
    --node.borrowed;
  of(connection).failed(connection, reason);
  // A node that refuses a login is where it was, and so is one whose client has left.
  const bool was_used = connection.owner() != nullptr || !connection.is_private();
  if (map_ != nullptr && was_used && !connection.refused()) shared_.cluster.is_stale(std::nullopt);
}

// In a cluster, scripts are not lost with one node, and copies come from all nodes.
void ClusterServers::server_left() {
  if (map_ == nullptr) host_.server_left();
}

void ClusterServers::shared_renewed(TimePoint lost_at) {
  if (map_ == nullptr) host_.shared_renewed(lost_at);
}

// ---- for the worker

void ClusterServers::server_moved() {
  for (Node& node : nodes_) node.server->server_moved();
}

void ClusterServers::check_timeouts(TimePoint now) {
  follow_map();  // also while no client asks: nodes that have left are let go
  for (Node& node : nodes_) node.server->check_timeouts(now);
  end_owed(now);
}

void ClusterServers::wake_ready() {
  for (Node& node : nodes_) node.server->wake_ready();
}

void ClusterServers::end_turn() {
  looked_ = false;
  refusals_.end_turn();
  for (Node& node : nodes_) node.server->end_turn();
  if (map_ == nullptr) return;
  latest_node_ = nullptr;
  std::erase_if(nodes_, [this](const Node& node) {
    const bool goes = !node.in_map && node.borrowed == 0 && node.server->is_unused();
    if (goes) by_address_.erase(node.address);
    return goes;
  });
}

bool ClusterServers::owes_nothing() const {
  return refusals_.owes_nothing() &&
         std::ranges::all_of(nodes_, [](const Node& node) { return node.server->owes_nothing(); });
}

bool ClusterServers::is_unused() const {
  return refusals_.is_unused() && std::ranges::all_of(nodes_, [](const Node& node) {
           return node.borrowed == 0 && node.server->is_unused();
         });
}

void ClusterServers::forget_refusals() {
  for (Node& node : nodes_) node.server->forget_refusals();
}

void ClusterServers::shrink() {
  for (Node& node : nodes_) node.server->shrink();
}

std::uint64_t ClusterServers::memory_bytes() const {
  std::uint64_t bytes = refusals_.memory_bytes();
  for (const Node& node : nodes_) bytes += node.server->memory_bytes();
  return bytes;
}

}  // namespace heatsink::proxy
