// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_directory.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink::topology {

std::shared_ptr<const SlotMap> ClusterDirectory::map() const {
  const std::lock_guard lock(mutex_);
  return map_;
}

std::optional<NodeIndex> ClusterDirectory::node_at(net::HostPort announced,
                                                   const net::HostPort& asked) {
  if (announced.host.empty()) announced.host = asked.host;
  return known_or_new(translation_.reached(announced));
}

bool ClusterDirectory::knows(net::HostPort announced, const net::HostPort& asked) const {
  if (announced.host.empty()) announced.host = asked.host;
  const std::lock_guard lock(mutex_);
  return numbers_.contains(translation_.reached(announced).text());
}

// kNoNode: it is not known.
NodeIndex ClusterDirectory::known(const net::HostPort& reached) const {
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(reached.text());
  return found == numbers_.end() ? kNoNode : found->second;
}

std::optional<NodeIndex> ClusterDirectory::known_or_new(const net::HostPort& reached) {
  const std::lock_guard lock(mutex_);
  const std::string text = reached.text();
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  if (owned_.size() == kNodesMax) return std::nullopt;
  net::RedisUrl url = first_;
  url.topology = net::Topology::kServer;
  url.address = reached;
  url.others.clear();
  url.unix_path.clear();
  url.db = 0;
  auto node = std::make_unique<redis::UpstreamAddress>(std::move(url));
  node->set_tls(tls_.for_server(reached.host));
  if (auto numeric = net::resolve_numeric(reached); numeric.ok())
    node->set_addresses(std::move(numeric).value());
  const auto index = static_cast<NodeIndex>(owned_.size());
  by_index_[index].store(node.get());
  owned_.push_back(std::move(node));
  numbers_.emplace(text, index);
  nodes_.store(owned_.size(), std::memory_order_release);
  return index;
}

std::optional<NodeIndex> ClusterDirectory::index_of(const redis::UpstreamAddress& address) const {
  for (std::size_t i = 0; i < nodes(); ++i)
    if (by_index_[i].load() == &address) return static_cast<NodeIndex>(i);
  return std::nullopt;
}

void ClusterDirectory::set_tls(const net::TlsContext& context) {
  const std::lock_guard lock(mutex_);
  tls_ = context;
  for (const auto& node : owned_) node->set_tls(tls_.for_server(node->url().address.host));
}

ClusterDirectory::Published ClusterDirectory::publish(const AnnouncedMap& announced,
                                                      const net::HostPort& asked,
                                                      std::uint64_t epoch) {
  auto next = std::make_shared<SlotMap>();
  next->epoch = epoch;
  std::set<NodeIndex> masters, standing;
  for (const AnnouncedShard& shard : announced) {
    const std::optional<NodeIndex> master = node_at(shard.master, asked);
    if (!master) continue;
    for (const SlotRange& range : shard.slots)
      for (std::size_t slot = range.first; slot <= range.last; ++slot) next->owners[slot] = *master;
    if (!masters.insert(*master).second) continue;  // several are reached by one address
    if (shard.config_epoch) next->config_epochs[*master] = *shard.config_epoch;
    if (!shard.has_failed) standing.insert(*master);
    SlotMap::Shard& added = next->shards.emplace_back();
    added.master = *master;
    for (const net::HostPort& replica : shard.replicas) {
      const std::optional<NodeIndex> index = node_at(replica, asked);
      if (!index) continue;
      added.replicas.push_back(*index);
      standing.insert(*index);
    }
  }
  Published out;
  const std::shared_ptr<const SlotMap> before = map();
  if (before != nullptr) {
    out.doubtful = keep_newer_owners(standing, known(asked), *before, *next);
  }
  fill_shards(*next);
  for (const SlotMap::Shard& shard : next->shards) {
    redis::UpstreamAddress& address = node(shard.master);
    if (address.addresses().empty()) static_cast<void>(address.look_up());
  }
  give_scan_ids(*next);
  const std::lock_guard lock(mutex_);
  out.is_new = map_ == nullptr || map_->owners != next->owners || map_->shards != next->shards;
  const bool has_new_epoch = out.is_new || map_->epoch != epoch;
  if (!has_new_epoch && map_->config_epochs == next->config_epochs) return out;
  map_ = std::move(next);
  if (has_new_epoch) epoch_version_.fetch_add(1, std::memory_order_acq_rel);
  if (out.is_new) version_.fetch_add(1, std::memory_order_acq_rel);
  return out;
}

// If an epoch is not known, the announcement counts. A node announces no owner of a slot while it
// takes the owner for a replica, and has not heard yet that this replica is the new master.
std::optional<NodeIndex> ClusterDirectory::keep_newer_owners(const std::set<NodeIndex>& standing,
                                                             NodeIndex asked, const SlotMap& before,
                                                             SlotMap& next) {
  std::set<NodeIndex> kept;
  for (std::size_t slot = 0; slot < resp::kSlots; ++slot) {
    const NodeIndex owner = before.owners[slot], announced = next.owners[slot];
    if (announced == owner || owner == kNoNode || owner == asked) continue;
    if (!standing.contains(owner)) continue;
    const auto its_epoch = before.config_epochs.find(owner);
    if (its_epoch == before.config_epochs.end()) continue;
    const auto other_epoch = next.config_epochs.find(announced);
    if (announced != kNoNode && other_epoch == next.config_epochs.end()) continue;
    if (announced == kNoNode || other_epoch->second <= its_epoch->second) {
      next.owners[slot] = owner;
      kept.insert(owner);
    }
  }
  for (const NodeIndex owner : kept) {
    std::uint64_t& epoch = next.config_epochs[owner];
    epoch = std::max(epoch, before.config_epochs.at(owner));
    const auto is_its = [owner](const SlotMap::Shard& shard) { return shard.master == owner; };
    if (std::ranges::any_of(next.shards, is_its)) continue;  // else it is announced as a replica
    SlotMap::Shard shard = *std::ranges::find_if(before.shards, is_its);
    shard.slots = 0;
    next.shards.push_back(std::move(shard));
  }
  return kept.empty() ? std::nullopt : std::optional(*kept.begin());
}

// Masters without slots are not in the map.
void ClusterDirectory::fill_shards(SlotMap& map) {
  std::map<NodeIndex, SlotMap::Shard*> by_master;
  for (SlotMap::Shard& shard : map.shards) by_master[shard.master] = &shard;
  auto found = by_master.end();
  for (std::size_t slot = 0; slot < resp::kSlots; ++slot) {
    const NodeIndex owner = map.owners[slot];
    if (found == by_master.end() || found->first != owner) found = by_master.find(owner);
    if (found == by_master.end()) continue;
    if (found->second->slots++ == 0) found->second->first_slot = static_cast<std::uint16_t>(slot);
  }
  for (const auto& [master, shard] : by_master)
    if (shard->slots == 0) map.config_epochs.erase(master);
  std::erase_if(map.shards, [](const SlotMap::Shard& shard) { return shard.slots == 0; });
  std::ranges::stable_sort(map.shards, {}, &SlotMap::Shard::first_slot);
}

// In the order of the addresses, so that equal hashes are resolved the same way everywhere.
void ClusterDirectory::give_scan_ids(SlotMap& map) {
  std::map<std::string, SlotMap::Shard*> by_address;
  for (SlotMap::Shard& shard : map.shards)
    by_address.emplace(node(shard.master).url().address.text(), &shard);
  std::set<std::uint16_t> taken;
  for (const auto& [address, shard] : by_address) {
    auto id = static_cast<std::uint16_t>(hash_name(address, 0).value % resp::kSlots);
    while (!taken.insert(id).second) id = static_cast<std::uint16_t>((id + 1) % resp::kSlots);
    shard->scan_id = id;
  }
}

void ClusterDirectory::is_stale(std::optional<NodeIndex> hint) {
  if (refresh_) refresh_(hint);
}

}  // namespace heatsink::topology
