// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_nodes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/resp/key_slot.h"

namespace heatsink::topology {
namespace {

// A connection for commands is closed so long after the last reply could have come.
constexpr Nanos kIdle = std::chrono::seconds(60);
constexpr Nanos kOwnerSlack = std::chrono::seconds(1);

}  // namespace

ClusterNodes::Data::Data(ClusterNodes& owner, NodeIndex node)
    : pipeline(owner.pipeline_options_),
      connection(owner.loop_, owner.directory_.node(node), pipeline, owner.connection_options_,
                 "server " + owner.directory_.node(node).where()) {}

ClusterNodes::ClusterNodes(net::EventLoop& loop, const KeyServersOptions& options,
                           ChangeListener& changes, KeyServers::Listener& listener)
    : loop_(loop),
      url_(options.url),
      max_staleness_(options.max_staleness),
      pipeline_options_(options.pipeline),
      connection_options_(options.connection()),
      changes_(changes),
      listener_(listener),
      directory_(url_),
      map_(
          loop, directory_, [this] { return pipeline_options_.credentials; }, connection_options_),
      trackers_(loop, directory_, *this,
                {.tracker = options.tracker,
                 .connection = connection_options_,
                 .copy_life = options.copy_life}),
      requests_(directory_, *this, connection_options_.connect_timeout) {
  directory_.set_tls(options.tls);
  directory_.translate_by(options.translation);
  directory_.on_stale([this](std::optional<NodeIndex> hint) { map_is_old(hint); });
  map_.on_answer([this] { trackers_.follow_map(); });
}

void ClusterNodes::begin() {
  std::vector<net::HostPort> seeds = url_.others;
  seeds.insert(seeds.begin(), url_.address);
  map_.begin(seeds);
}

void ClusterNodes::tick() {
  const TimePoint now = loop_.clock();
  map_.tick();
  trackers_.tick();
  for (const auto& [node, data] : data_) data->connection.tick();
  requests_.tick(now);
  close_idle();
  listener_.set_problem(problem());
}

void ClusterNodes::flush() {
  trackers_.flush();
  for (const auto& [node, data] : data_) data->connection.flush();
}

void ClusterNodes::close(const std::string& reason) {
  requests_.close(reason);
  trackers_.close(reason);
  for (const auto& [node, data] : data_) data->connection.close(reason);
}

void ClusterNodes::close_idle() {
  const TimePoint now = loop_.clock();
  const Nanos life =
      kIdle + connection_options_.connect_timeout + pipeline_options_.response_timeout;
  std::erase_if(data_, [&](const auto& each) { return now - each.second->used_at > life; });
}

// Later: a tracker or a request may be in the middle of its own call.
void ClusterNodes::map_is_old(std::optional<NodeIndex> hint) {
  if (std::exchange(is_refresh_posted_, true)) return;
  loop_.post([this, hint] {
    is_refresh_posted_ = false;
    map_.refresh_soon(hint);
  });
}

// ---- keys

// A master that is cut off refuses commands half a time-out after the other one at the latest
// (docs/design/coherence.md, "Many nodes").
bool ClusterNodes::has_certain_owner(std::string_view key) const {
  if (lost_at_.empty()) return true;
  const TimePoint lost_at = lost_at_[resp::key_slot(key)];
  return lost_at == TimePoint::min() ||
         loop_.clock() - lost_at >= trackers_.node_timeout() / 2 + kOwnerSlack;
}

// See OneServer::track().
void ClusterNodes::track(redis::FillId id, std::string_view key) {
  const std::array<std::string_view, 2> exists = {"EXISTS", key};
  trackers_.fill(id, {.key = key, .request = exists}, loop_.clock());
}

void ClusterNodes::ask(Words words, Done done) {
  requests_.ask(std::move(words), std::move(done), loop_.clock());
}

void ClusterNodes::send(NodeIndex node, const Words& words, bool is_asking, Done done) {
  std::unique_ptr<Data>& data = data_[node];
  const TimePoint now = loop_.clock();
  if (data == nullptr) {
    data = std::make_unique<Data>(*this, node);
    data->connection.connect();
  }
  data->used_at = now;
  constexpr std::array<std::string_view, 1> kAsking = {"ASKING"};
  if (is_asking)
    data->pipeline.ask(
        kAsking, [](const Result<resp::Value>&) {}, now);
  const std::vector<std::string_view> args(words->begin(), words->end());
  data->pipeline.ask(args, std::move(done), now);
}

// ---- proofs

void ClusterNodes::on_up(NodeIndex node) {
  up_.insert(node);
  down_.erase(node);
  listener_.set_up(true);
}

void ClusterNodes::on_down(NodeIndex node, const std::string& reason) {
  up_.erase(node);
  down_[node] = reason;
  listener_.set_up(!up_.empty());
  const ServerIndex server = ClusterTrackers::proof_index(node);
  changes_.on_proven(server, TimePoint::min());
  changes_.on_server_changed(server);
}

// The voters bound what a node proves: a master that has been replaced may still answer.
void ClusterNodes::on_proof(NodeIndex node, TimePoint voted_at,
                            std::optional<TimePoint> proven_at) {
  drop_lost_slots();
  voted_at_ = voted_at;
  if (!proven_at) return;
  changes_.on_proven(ClusterTrackers::proof_index(node),
                     std::min(*proven_at, voted_at) + max_staleness_);
}

void ClusterNodes::on_flush(NodeIndex node) {
  changes_.on_server_changed(ClusterTrackers::proof_index(node));
}

void ClusterNodes::on_slot_lost(std::uint16_t slot) {
  ++losses_;
  if (lost_slots_.empty()) lost_slots_.resize(resp::kSlots);
  lost_slots_[slot] = true;
  if (lost_at_.empty()) lost_at_.resize(resp::kSlots, TimePoint::min());
  lost_at_[slot] = loop_.clock();
}

void ClusterNodes::drop_lost_slots() {
  if (lost_slots_.empty()) return;
  changes_.on_slots_changed(lost_slots_);
  lost_slots_.clear();
}

std::string ClusterNodes::problem() {
  if (directory_.map() == nullptr) return map_.problem();
  const std::vector<NodeIndex> masters = trackers_.masters();
  for (const NodeIndex master : masters) {
    if (up_.contains(master)) continue;
    const auto why = down_.find(master);
    if (why != down_.end()) return "no copies of some keys: " + why->second;
    return "no copies of some keys: node " + directory_.node(master).where() +
           " has proven nothing yet";
  }
  if (loop_.clock() - voted_at_ > max_staleness_)
    return "no majority of the cluster's masters confirms the map of its slots";
  return "";
}

}  // namespace heatsink::topology
