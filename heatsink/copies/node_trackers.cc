// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/node_trackers.h"

#include <algorithm>
#include <utility>

#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {
namespace {

// A node that answers later has perhaps been replaced meanwhile.
constexpr Nanos kGapMax = Millis(500);
// Fills may be under way for so long after they were counted.
constexpr Nanos kSlotSlack = std::chrono::seconds(2);

}  // namespace

// One master: its tracker, its connection, and the way of its events to the filler.
class NodeTrackers::Node final : public redis::TrackerEvents {
 public:
  Node(NodeTrackers& owner, topology::NodeIndex index)
      : owner_(owner),
        index_(index),
        proof_(proof_index(index)),
        tracker(owner.options(), *this),
        connection(owner.loop_, owner.shared_.cluster.node(index), tracker,
                   owner.shared_.connection_options(),
                   "local copies from " + owner.shared_.cluster.node(index).where()) {}

  void on_facts(const redis::ServerFacts& facts) override { owner_.filler_.on_facts(facts); }
  void on_up() override { owner_.filler_.up(proof_); }
  void on_heartbeat(TimePoint sent_at) override {
    proven_at = std::max(proven_at, sent_at);
    owner_.publish(*this);
  }
  void on_invalidate(std::string_view name) override { owner_.filler_.on_invalidate(name); }
  void on_flush() override { owner_.filler_.flush(proof_); }
  void on_filled(const redis::FillReply& reply) override { owner_.filler_.on_filled(reply); }
  void on_barrier(std::uint64_t token) override { owner_.barrier_passed(token); }
  void on_rights_changed() override { owner_.filler_.on_rights_changed(); }
  void on_down(const std::string& reason) override {
    proven_at = {};
    owner_.filler_.down(proof_,
                        "node " + owner_.shared_.cluster.node(index_).where() + ": " + reason);
    owner_.shared_.cluster.is_stale(std::nullopt);
  }
  void on_slot_lost(std::uint16_t slot) override {
    owner_.filler_.slot_lost(slot);
    owner_.shared_.cluster.is_stale(std::nullopt);
  }
  void on_cluster_epoch(std::uint64_t epoch, TimePoint asked_at) override {
    owner_.heard_epoch(index_, epoch, asked_at);
  }
  void on_node_timeout(Nanos timeout) override { owner_.quorum_.set_node_timeout(timeout); }
  std::span<const std::uint16_t> slots_to_prove() override { return owner_.slots_to_prove(index_); }

  cache::ProofIndex proof() const { return proof_; }

 private:
  NodeTrackers& owner_;
  const topology::NodeIndex index_;
  const cache::ProofIndex proof_;

 public:
  redis::Tracker tracker;
  redis::ServerConnection connection;
  TimePoint proven_at{};  // of the last heartbeat
};

NodeTrackers::NodeTrackers(NodeState& shared, net::EventLoop& loop, Filler& filler)
    : shared_(shared), loop_(loop), filler_(filler) {}

NodeTrackers::~NodeTrackers() = default;

redis::TrackerOptions NodeTrackers::options() const {
  redis::TrackerOptions options = tracker_options(shared_);
  options.is_node = true;
  options.gap_max = kGapMax;
  return options;
}

// ---- the map

void NodeTrackers::follow_map() {
  const std::uint64_t version = shared_.cluster.version();
  const std::shared_ptr<const topology::SlotMap> map = shared_.cluster.map();
  if (map == nullptr || map == map_) return;
  const bool is_new = version != map_version_ || map_ == nullptr;
  if (is_new) {
    for (std::size_t slot = 0; map_ != nullptr && slot < map->owners.size(); ++slot)
      if (map->owners[slot] != map_->owners[slot])
        filler_.slot_lost(static_cast<std::uint16_t>(slot));
    filler_.drop_lost_slots();
    follow_nodes(*map);
  }
  std::vector<topology::NodeIndex> masters;
  masters.reserve(map->shards.size());
  for (const topology::SlotMap::Shard& shard : map->shards) masters.push_back(shard.master);
  quorum_.follow(masters, map->epoch, is_new);
  map_ = map;
  map_version_ = version;
}

void NodeTrackers::follow_nodes(const topology::SlotMap& map) {
  std::set<topology::NodeIndex> masters;
  for (const topology::SlotMap::Shard& shard : map.shards) masters.insert(shard.master);
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    if (masters.contains(at->first)) {
      ++at;
      continue;
    }
    at->second->connection.close("it is no longer a master of the cluster");
    at = nodes_.erase(at);
  }
  // The trackers ask for slots_to_prove() of the new map.
  map_ = std::make_shared<const topology::SlotMap>(map);
  for (const topology::NodeIndex master : masters) {
    std::unique_ptr<Node>& node = nodes_[master];
    if (node != nullptr) continue;
    node = std::make_unique<Node>(*this, master);
    publish(*node);
    node->connection.connect();
  }
  // For what asks any server: rights, inspections, searches.
  for (const auto& [index, node] : nodes_) {
    const std::vector<net::ResolvedAddress> addresses = shared_.cluster.node(index).addresses();
    if (addresses.empty()) continue;
    shared_.upstream_address.set_addresses(addresses);
    break;
  }
}

NodeTrackers::Node* NodeTrackers::owner_of(std::string_view key) const {
  if (map_ == nullptr) return nullptr;
  const auto found = nodes_.find(map_->owner(resp::key_slot(key)));
  return found == nodes_.end() ? nullptr : found->second.get();
}

std::uint16_t NodeTrackers::proof_of(std::string_view key) const {
  const Node* const owner = owner_of(key);
  return owner == nullptr ? std::uint16_t{0} : owner->proof();
}

// ---- proofs

void NodeTrackers::note_slot(std::uint16_t slot, TimePoint now) {
  if (filled_at_.empty()) {
    filled_at_.resize(resp::kSlots);
    is_active_.resize(resp::kSlots);
  }
  filled_at_[slot] = now;
  if (is_active_[slot]) return;
  is_active_[slot] = true;
  active_.push_back(slot);
}

std::span<const std::uint16_t> NodeTrackers::slots_to_prove(topology::NodeIndex node) {
  const TimePoint now = loop_.clock();
  const Nanos life = shared_.options().expire_after_write + kSlotSlack;
  std::erase_if(active_, [&](std::uint16_t slot) {
    const bool is_over = now - filled_at_[slot] > life;
    if (is_over) is_active_[slot] = false;
    return is_over;
  });
  to_prove_.clear();
  for (const std::uint16_t slot : active_)
    if (map_->owner(slot) == node) to_prove_.push_back(slot);
  if (!to_prove_.empty()) return to_prove_;
  for (const topology::SlotMap::Shard& shard : map_->shards)
    if (shard.master == node) to_prove_.push_back(shard.first_slot);
  return to_prove_;
}

void NodeTrackers::heard_epoch(topology::NodeIndex node, std::uint64_t epoch, TimePoint asked_at) {
  const TimePoint before = quorum_.agreed_at();
  if (quorum_.heard(node, epoch, asked_at, loop_.clock())) shared_.cluster.is_stale(node);
  if (quorum_.agreed_at() > before) publish_all();
}

// The voters bound what fills say, too: a master that has been replaced may still answer them.
void NodeTrackers::publish(Node& node) {
  shared_.proofs[node.proof()].confirm_by_voters(quorum_.agreed_at());
  if (node.tracker.up()) filler_.heartbeat(node.proof(), node.proven_at);
}

void NodeTrackers::publish_all() {
  for (const auto& [index, node] : nodes_) publish(*node);
}

// ---- calls of the keeper

void NodeTrackers::tick() {
  follow_map();
  for (const auto& [index, node] : nodes_) node->connection.tick();
}

void NodeTrackers::flush() {
  for (const auto& [index, node] : nodes_) node->connection.flush();
}

void NodeTrackers::set_resting(bool resting) {
  rests_ = resting;
  for (const auto& [index, node] : nodes_) node->tracker.set_resting(resting);
}

void NodeTrackers::options_changed() {
  for (const auto& [index, node] : nodes_) {
    node->tracker.set_options(options());
    node->connection.set_options(shared_.connection_options());
  }
}

void NodeTrackers::retry() {
  for (const auto& [index, node] : nodes_) node->connection.retry();
}

std::size_t NodeTrackers::tracked_names() const {
  std::size_t names = 0;
  for (const auto& [index, node] : nodes_) names += node->tracker.tracked_names();
  return names;
}

std::string NodeTrackers::problem() const {
  if (nodes_.empty()) return "the map of the cluster is not known yet";
  for (const auto& [index, node] : nodes_)
    if (node->connection.problem().empty()) return "";
  return nodes_.begin()->second->connection.problem();
}

bool NodeTrackers::is_any_reachable() const {
  return std::ranges::any_of(nodes_, [](const auto& each) {
    const redis::ServerConnection& connection = each.second->connection;
    return connection.problem().empty() || connection.is_refused();
  });
}

void NodeTrackers::fill(redis::FillId id, const redis::FillQuestion& question, TimePoint now) {
  Node* const owner = owner_of(question.key);
  if (owner == nullptr) {
    redis::FillReply failed;
    failed.id = id;
    failed.sent_at = now;
    filler_.on_filled(failed);
    return;
  }
  note_slot(resp::key_slot(question.key), now);
  // The other masters' votes are needed soon, too.
  if (rests_) set_resting(false);
  owner->tracker.fill(id, question, now);
}

// The last tracker that answers releases it. Trackers that are down answer at once.
void NodeTrackers::barrier(std::uint64_t token, TimePoint now) {
  barriers_[token] = nodes_.size() + 1;
  for (const auto& [index, node] : nodes_) node->tracker.barrier(token, now);
  barrier_passed(token);
}

void NodeTrackers::barrier_passed(std::uint64_t token) {
  const auto found = barriers_.find(token);
  if (found == barriers_.end() || --found->second > 0) return;
  barriers_.erase(found);
  filler_.on_barrier(token);
}

// Keys of several slots may not stand in one command.
void NodeTrackers::touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) {
  for (const std::string_view key : keys)
    if (Node* const owner = owner_of(key)) owner->tracker.touch(db, std::span(&key, 1), now);
}

void NodeTrackers::ask_eviction(TimePoint now) {
  for (const auto& [index, node] : nodes_) node->tracker.ask_eviction(now);
}

bool NodeTrackers::eviction_known() const {
  return std::ranges::all_of(nodes_, [](const auto& each) {
    return !each.second->tracker.up() || each.second->tracker.eviction_known();
  });
}

bool NodeTrackers::evicts_by_use() const {
  return std::ranges::any_of(nodes_,
                             [](const auto& each) { return each.second->tracker.evicts_by_use(); });
}

bool NodeTrackers::rights_known() const {
  return std::ranges::all_of(nodes_, [](const auto& each) {
    return !each.second->tracker.up() || each.second->tracker.rights_known();
  });
}

bool NodeTrackers::is_up() const {
  return std::ranges::any_of(nodes_, [](const auto& each) { return each.second->tracker.up(); });
}

}  // namespace heatsink::copies
