// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_trackers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "heatsink/resp/key_slot.h"

namespace heatsink::topology {
namespace {

// A node that answers later has perhaps been replaced meanwhile.
constexpr Nanos kGapMax = Millis(500);
// Fills may be under way for so long after they were counted.
constexpr Nanos kSlotSlack = std::chrono::seconds(2);

}  // namespace

// One master: its tracker, its connection, and the way of its events to the listener.
class ClusterTrackers::Node final : public redis::TrackerEvents {
 public:
  Node(ClusterTrackers& owner, NodeIndex index)
      : owner_(owner),
        index_(index),
        tracker(owner.tracker_options(), *this),
        connection(owner.loop_, owner.directory_.node(index), tracker, owner.options_.connection,
                   owner.options_.name + " from " + owner.directory_.node(index).where()) {}

  void on_facts(const redis::ServerFacts& facts) override { owner_.listener_.on_facts(facts); }
  void on_up() override { owner_.listener_.on_up(index_); }
  void on_heartbeat(TimePoint sent_at) override {
    proven_at = std::max(proven_at, sent_at);
    owner_.publish(*this);
  }
  void on_invalidate(std::string_view name) override { owner_.listener_.on_invalidate(name); }
  void on_flush() override { owner_.listener_.on_flush(index_); }
  void on_server_use(const redis::ServerUse& use) override {
    owner_.listener_.on_server_use(index_, use);
  }
  void on_filled(redis::FillReply& reply) override { owner_.listener_.on_filled(reply); }
  void on_barrier(std::uint64_t token) override { owner_.barrier_passed(token); }
  void on_rights_changed() override { owner_.listener_.on_rights_changed(); }
  void on_down(const std::string& reason) override {
    proven_at = {};
    owner_.listener_.on_down(index_,
                             "node " + owner_.directory_.node(index_).where() + ": " + reason);
    owner_.directory_.is_stale(std::nullopt);
  }
  void on_slot_lost(std::uint16_t slot) override {
    owner_.listener_.on_slot_lost(slot);
    owner_.directory_.is_stale(std::nullopt);
  }
  void on_cluster_epoch(std::uint64_t epoch, TimePoint asked_at) override {
    owner_.heard_epoch(index_, epoch, asked_at);
  }
  bool wants_epoch(TimePoint now) override { return owner_.is_agreement_late(now); }
  void on_node_timeout(Nanos timeout) override { owner_.quorum_.set_node_timeout(timeout); }
  std::span<const std::uint16_t> slots_to_prove() override { return owner_.slots_to_prove(index_); }

  NodeIndex index() const { return index_; }

 private:
  ClusterTrackers& owner_;
  const NodeIndex index_;

 public:
  redis::Tracker tracker;
  redis::ServerConnection connection;
  TimePoint proven_at{};  // of the last heartbeat
};

ClusterTrackers::ClusterTrackers(net::EventLoop& loop, ClusterDirectory& directory,
                                 Listener& listener, ClusterTrackerOptions options)
    : loop_(loop), directory_(directory), listener_(listener), options_(std::move(options)) {}

ClusterTrackers::~ClusterTrackers() = default;

redis::TrackerOptions ClusterTrackers::tracker_options() const {
  redis::TrackerOptions options = options_.tracker;
  options.is_node = true;
  options.gap_max = kGapMax;
  return options;
}

// ---- the map

bool ClusterTrackers::follow_map() {
  const std::uint64_t version = directory_.version();
  const std::shared_ptr<const SlotMap> map = directory_.map();
  if (map == nullptr || map == map_) return false;
  const bool is_new = version != map_version_ || map_ == nullptr;
  if (is_new) {
    for (std::size_t slot = 0; map_ != nullptr && slot < map->owners.size(); ++slot)
      if (map->owners[slot] != map_->owners[slot])
        listener_.on_slot_lost(static_cast<std::uint16_t>(slot));
    listener_.drop_lost_slots();
    follow_nodes(*map);
  }
  std::vector<NodeIndex> masters;
  masters.reserve(map->shards.size());
  for (const SlotMap::Shard& shard : map->shards) masters.push_back(shard.master);
  quorum_.follow(masters, map->epoch, is_new);
  map_ = map;
  map_version_ = version;
  return is_new;
}

void ClusterTrackers::follow_nodes(const SlotMap& map) {
  std::set<NodeIndex> masters;
  for (const SlotMap::Shard& shard : map.shards) masters.insert(shard.master);
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    if (masters.contains(at->first)) {
      ++at;
      continue;
    }
    at->second->connection.close("it is no longer a master of the cluster");
    at = nodes_.erase(at);
  }
  // The trackers ask for slots_to_prove() of the new map.
  map_ = std::make_shared<const SlotMap>(map);
  for (const NodeIndex master : masters) {
    std::unique_ptr<Node>& node = nodes_[master];
    if (node != nullptr) continue;
    node = std::make_unique<Node>(*this, master);
    publish(*node);
    node->connection.connect();
  }
}

ClusterTrackers::Node* ClusterTrackers::owner_of(std::string_view key) const {
  if (map_ == nullptr) return nullptr;
  const auto found = nodes_.find(map_->owner(resp::key_slot(key)));
  return found == nodes_.end() ? nullptr : found->second.get();
}

std::uint16_t ClusterTrackers::proof_of(std::string_view key) const {
  const Node* const owner = owner_of(key);
  return owner == nullptr ? std::uint16_t{0} : proof_index(owner->index());
}

// ---- proofs

// A slot that is given up is lost before the proof that leaves it out counts.
std::span<const std::uint16_t> ClusterTrackers::slots_to_prove(NodeIndex node) {
  proven_slots_.forget_old(
      loop_.clock(), options_.copy_life + kSlotSlack,
      [this](std::uint16_t slot) { return listener_.keeps_slot(slot); },
      [this](std::uint16_t slot) { listener_.on_slot_lost(slot); });
  to_prove_.clear();
  for (const std::uint16_t slot : proven_slots_.slots())
    if (map_->owner(slot) == node) to_prove_.push_back(slot);
  if (!to_prove_.empty()) return to_prove_;
  for (const SlotMap::Shard& shard : map_->shards)
    if (shard.master == node) to_prove_.push_back(shard.first_slot);
  return to_prove_;
}

void ClusterTrackers::heard_epoch(NodeIndex node, std::uint64_t epoch, TimePoint asked_at) {
  const TimePoint before = quorum_.agreed_at();
  if (quorum_.heard(node, epoch, asked_at, loop_.clock())) directory_.is_stale(node);
  if (quorum_.agreed_at() > before) publish_all();
}

// A master does not answer, or an election is under way: copies wait for the end of it.
bool ClusterTrackers::is_agreement_late(TimePoint now) const {
  return quorum_.agreed_at() < now - 2 * options_.tracker.epoch_interval;
}

// The voters bound what fills say, too: a master that has been replaced may still answer them.
void ClusterTrackers::publish(const Node& node) {
  const bool is_up = node.tracker.up();
  listener_.on_proof(node.index(), quorum_.agreed_at(),
                     is_up ? std::optional(node.proven_at) : std::nullopt);
}

void ClusterTrackers::publish_all() {
  for (const auto& [index, node] : nodes_) publish(*node);
}

// ---- calls of the owner

void ClusterTrackers::tick() {
  follow_map();
  for (const auto& [index, node] : nodes_) node->connection.tick();
}

void ClusterTrackers::flush() {
  for (const auto& [index, node] : nodes_) node->connection.flush();
}

void ClusterTrackers::set_resting(bool resting) {
  rests_ = resting;
  for (const auto& [index, node] : nodes_) node->tracker.set_resting(resting);
}

void ClusterTrackers::set_options(ClusterTrackerOptions options) {
  options_ = std::move(options);
  for (const auto& [index, node] : nodes_) {
    node->tracker.set_options(tracker_options());
    node->connection.set_options(options_.connection);
  }
}

void ClusterTrackers::retry() {
  for (const auto& [index, node] : nodes_) node->connection.retry();
}

void ClusterTrackers::close(const std::string& reason) {
  for (const auto& [index, node] : nodes_) node->connection.close(reason);
}

std::vector<NodeIndex> ClusterTrackers::masters() const {
  std::vector<NodeIndex> masters;
  masters.reserve(nodes_.size());
  for (const auto& [index, node] : nodes_) masters.push_back(index);
  return masters;
}

std::size_t ClusterTrackers::tracked_names() const {
  std::size_t names = 0;
  for (const auto& [index, node] : nodes_) names += node->tracker.tracked_names();
  return names;
}

std::string ClusterTrackers::problem() const {
  if (nodes_.empty()) return "the map of the cluster is not known yet";
  for (const auto& [index, node] : nodes_)
    if (node->connection.problem().empty()) return "";
  return nodes_.begin()->second->connection.problem();
}

bool ClusterTrackers::is_any_reachable() const {
  return std::ranges::any_of(nodes_, [](const auto& each) {
    const redis::ServerConnection& connection = each.second->connection;
    return connection.problem().empty() || connection.is_refused();
  });
}

void ClusterTrackers::fill(redis::FillId id, const redis::FillQuestion& question, TimePoint now) {
  Node* const owner = owner_of(question.key);
  if (owner == nullptr) {
    redis::FillReply failed;
    failed.id = id;
    failed.sent_at = now;
    listener_.on_filled(failed);
    return;
  }
  proven_slots_.filled(resp::key_slot(question.key), now);
  // The other masters' votes are needed soon, too.
  if (rests_) set_resting(false);
  owner->tracker.fill(id, question, now);
}

// The last tracker that answers releases it. Trackers that are down answer at once.
// A cluster has no SWAPDB, so no code can have exchanged databases.
void ClusterTrackers::barrier(std::uint64_t token, TimePoint now, bool /*after_code*/) {
  barriers_[token] = nodes_.size() + 1;
  for (const auto& [index, node] : nodes_) node->tracker.barrier(token, now);
  barrier_passed(token);
}

void ClusterTrackers::barrier_passed(std::uint64_t token) {
  const auto found = barriers_.find(token);
  if (found == barriers_.end() || --found->second > 0) return;
  barriers_.erase(found);
  listener_.on_barrier(token);
}

// Keys of several slots may not stand in one command.
void ClusterTrackers::touch(std::uint32_t db, std::span<const std::string_view> keys,
                            TimePoint now) {
  for (const std::string_view key : keys)
    if (Node* const owner = owner_of(key)) owner->tracker.touch(db, std::span(&key, 1), now);
}

void ClusterTrackers::ask_eviction(TimePoint now) {
  for (const auto& [index, node] : nodes_) node->tracker.ask_eviction(now);
}

bool ClusterTrackers::eviction_known() const {
  return std::ranges::all_of(nodes_, [](const auto& each) {
    return !each.second->tracker.up() || each.second->tracker.eviction_known();
  });
}

bool ClusterTrackers::evicts_by_use() const {
  return std::ranges::any_of(nodes_,
                             [](const auto& each) { return each.second->tracker.evicts_by_use(); });
}

bool ClusterTrackers::rights_known() const {
  return std::ranges::all_of(nodes_, [](const auto& each) {
    return !each.second->tracker.up() || each.second->tracker.rights_known();
  });
}

bool ClusterTrackers::is_up() const {
  return std::ranges::any_of(nodes_, [](const auto& each) { return each.second->tracker.up(); });
}

}  // namespace heatsink::topology
