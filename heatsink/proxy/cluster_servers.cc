// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/cluster_servers.h"

#include <algorithm>
#include <utility>

#include "heatsink/proxy/requester.h"

namespace heatsink::proxy {
namespace {

constexpr std::uint8_t kRedirectsMax = 32;  // of one request; TRYAGAIN does not count
constexpr std::uint8_t kAtOnceMax = 3;      // later ones come after a pause
constexpr Nanos kRedirectPauseMax = Millis(100);
constexpr Nanos kAgainAfter = Millis(5);  // the pause after TRYAGAIN
constexpr Nanos kLookAgain = Millis(1);   // at requests that wait for a connection

// The text of an error reply, without '-' and the end of the line.
std::string_view line_of(std::string_view error) {
  if (error.starts_with('-')) error.remove_prefix(1);
  return error.substr(0, error.find('\r'));
}

}  // namespace

ClusterServers::ClusterServers(SharedState& shared, net::EventLoop& loop,
                               copies::Counters& counters, Upstreams::Host& host,
                               Upstream::Host& replies, std::uint64_t random)
    : shared_(shared),
      loop_(loop),
      counters_(counters),
      host_(host),
      replies_(replies),
      random_(random),
      home_(&shared.upstream_address) {}

ClusterServers::~ClusterServers() { loop_.cancel(timer_); }

// ---- which server

// One look per turn, so that all requests of a turn follow the same map.
void ClusterServers::follow_map() {
  if (std::exchange(looked_, true)) return;
  if (shared_.cluster.version() == version_) return;
  version_ = shared_.cluster.version();
  map_ = shared_.cluster.map();
  mark_nodes();
}

void ClusterServers::mark_nodes() {
  for (auto& [address, node] : nodes_) node.in_map = false;
  for (const topology::SlotMap::Shard& shard : map_->shards) {
    const auto found = nodes_.find(&shared_.cluster.node(shard.master));
    if (found != nodes_.end()) found->second.in_map = true;
  }
}

std::uint64_t ClusterServers::map_version() {
  follow_map();
  return version_;
}

ClusterServers::Node& ClusterServers::node_of(redis::UpstreamAddress& server) {
  Node& node = nodes_[&server];
  if (node.server == nullptr) {
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
    return node_of(server).server->known_down(Destination::any()) == nullptr;
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

std::unique_ptr<Upstream> ClusterServers::borrow(Requester& session, const Destination& to,
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

std::unique_ptr<Upstream> ClusterServers::adopt(Requester& session, net::Stream connection,
                                                const CarriedSession::Private& state) {
  if (shared_.cluster.is_expected()) return nullptr;  // which node it leads to is not carried
  Node& node = node_of(shared_.upstream_address);
  std::unique_ptr<Upstream> adopted = node.server->adopt(session, std::move(connection), state);
  if (adopted != nullptr) ++node.borrowed;
  return adopted;
}

void ClusterServers::discard(std::unique_ptr<Upstream> connection) {
  Node& node = node_of(connection->server());
  if (node.borrowed > 0) --node.borrowed;
  node.server->discard(std::move(connection));
}

// ---- refused requests

redis::UpstreamAddress* ClusterServers::node_named_by(const topology::Redirect& redirect,
                                                      const Upstream& from) {
  const std::optional<topology::NodeIndex> index =
      shared_.cluster.node_at(redirect.to, from.server().url().address);
  return index ? &shared_.cluster.node(*index) : nullptr;
}

bool ClusterServers::reroute(Upstream& from, Pending& pending, std::string_view request,
                             std::string_view error) {
  const std::string_view line = line_of(error);
  const std::optional<topology::Redirect> redirect = topology::parse_redirect(line);
  if (!redirect) {
    if (line.starts_with("CLUSTERDOWN")) shared_.cluster.is_stale(std::nullopt);
    return false;
  }
  counters_.add(copies::Count::kRedirects);
  const TimePoint now = loop_.now();
  if (pending.rerouted == nullptr) pending.rerouted = std::make_unique<Rerouted>();
  Rerouted& rerouted = *pending.rerouted;
  if (rerouted.request.empty()) rerouted.request = request;
  if (rerouted.since == TimePoint{}) rerouted.since = now;
  rerouted.protocol = from.protocol();
  Refused refused;
  refused.asking = redirect->kind == topology::Redirect::Kind::kAsk;
  if (redirect->kind == topology::Redirect::Kind::kTryAgain) {
    refused.to = &from.server();
    refused.asking = rerouted.asked;
    refused.not_before = now + kAgainAfter;
  } else {
    // Scripts can make any error: they lead only to nodes that the cluster itself has named.
    const bool is_own_error = pending.unknown_keys;
    refused.to = is_own_error && !shared_.cluster.knows(redirect->to, from.server().url().address)
                     ? nullptr
                     : node_named_by(*redirect, from);
    // Two nodes may name each other for a moment while one replaces the other.
    if (++rerouted.redirects > kAtOnceMax)
      refused.not_before = now + std::min(kRedirectPauseMax, kAgainAfter * rerouted.redirects);
  }
  rerouted.asked = refused.asking;
  if (redirect->kind == topology::Redirect::Kind::kMoved && refused.to != nullptr)
    shared_.cluster.is_stale(shared_.cluster.index_of(*refused.to));
  refused.pending = std::move(pending);
  const bool is_late = now - rerouted.since > shared_.options().response_timeout;
  if (refused.to == nullptr || rerouted.redirects > kRedirectsMax || is_late) {
    if (redirect->kind == topology::Redirect::Kind::kTryAgain) {
      refuse(std::move(refused.pending),
             "the slot is being moved, and the keys of the command are on two nodes; try again");
      return true;
    }
    refuse(std::move(refused.pending),
           "the nodes of the cluster do not agree which of them owns the key (the last one said: " +
               std::string(line) + "); look at CLUSTER NODES of each");
    return true;
  }
  refused_.push_back(std::move(refused));
  send_refused();
  return true;
}

// The client gets an error as from a server. Nothing was executed.
void ClusterServers::refuse(Pending&& pending, const std::string& why) {
  ByteBuffer wire;
  resp::append_error(wire, "ERR heatsink: " + why);
  replies_.settle(pending, loop_.clock(), copies::Shown::kNothing);
  resp::ReplyScanner scanner;
  static_cast<void>(scanner.feed(wire.view()));
  replies_.answered(pending, {.ok = false, .read_at = loop_.clock(), .captured = wire.view()});
  if (pending.session == nullptr) return;
  if (!pending.silent && !pending.session->closed())
    pending.session->take_reply(pending.ticket, wire.view());
  pending.session->reply_done(pending, false, scanner, wire.view());
}

// True: it is on its way, or was refused.
bool ClusterServers::send_one(Refused& refused) {
  const TimePoint now = loop_.now();
  if (now < refused.not_before) return false;
  const resp::Protocol protocol = refused.pending.rerouted->protocol;
  const Shared shared = node_of(*refused.to).server->shared(protocol, Destination::any());
  const bool is_late = now - refused.pending.rerouted->since > shared_.options().response_timeout;
  if (shared.connection == nullptr && (shared.down != nullptr || is_late)) {
    refuse(std::move(refused.pending), shared.down != nullptr
                                           ? *shared.down
                                           : refused.to->unreachable("no connection in time"));
    return true;
  }
  if (shared.connection == nullptr) return false;
  if (refused.asking) shared.connection->send_own({"ASKING"});
  // Kept there while it is on its way, in case that node refuses it, too.
  const std::string request = std::move(refused.pending.rerouted->request);
  refused.pending.rerouted->request.clear();
  shared.connection->send(request, std::move(refused.pending));
  return true;
}

// In order for each node. A request that waits holds back those behind it for the same node.
void ClusterServers::send_refused() {
  std::vector<const redis::UpstreamAddress*> waits;
  std::deque<Refused> left;
  std::deque<Refused> all = std::exchange(refused_, {});
  for (Refused& each : all) {
    const bool is_behind = std::find(waits.begin(), waits.end(), each.to) != waits.end();
    if (!is_behind && send_one(each)) continue;
    waits.push_back(each.to);
    left.push_back(std::move(each));
  }
  // refuse() may have added some.
  std::move(refused_.begin(), refused_.end(), std::back_inserter(left));
  refused_ = std::move(left);
  wake_later();
}

void ClusterServers::wake_later() {
  if (refused_.empty() || timer_ != 0) return;
  timer_ = loop_.call_after(kLookAgain, [this] {
    timer_ = 0;
    send_refused();
  });
}

// ---- what the connections report

void ClusterServers::failed(Upstream& connection, const std::string& reason) {
  of(connection).failed(connection, reason);
  if (map_ != nullptr) shared_.cluster.is_stale(std::nullopt);
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
  for (auto& [address, node] : nodes_) node.server->server_moved();
}

void ClusterServers::check_timeouts(TimePoint now) {
  for (auto& [address, node] : nodes_) node.server->check_timeouts(now);
}

void ClusterServers::wake_ready() {
  for (auto& [address, node] : nodes_) node.server->wake_ready();
}

void ClusterServers::end_turn() {
  looked_ = false;
  for (auto& [address, node] : nodes_) node.server->end_turn();
  if (map_ == nullptr) return;
  std::erase_if(nodes_, [](const auto& each) {
    const Node& node = each.second;
    return !node.in_map && node.borrowed == 0 && node.server->is_unused();
  });
}

bool ClusterServers::owes_nothing() const {
  return refused_.empty() && std::all_of(nodes_.begin(), nodes_.end(), [](const auto& each) {
           return each.second.server->owes_nothing();
         });
}

void ClusterServers::shrink() {
  for (auto& [address, node] : nodes_) node.server->shrink();
}

std::uint64_t ClusterServers::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [address, node] : nodes_) bytes += node.server->memory_bytes();
  for (const Refused& each : refused_)
    bytes += sizeof each + (each.pending.rerouted ? each.pending.rerouted->request.size() : 0);
  return bytes;
}

}  // namespace heatsink::proxy
