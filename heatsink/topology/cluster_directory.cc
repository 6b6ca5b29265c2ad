// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_directory.h"

#include <set>
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

bool ClusterDirectory::publish(const AnnouncedMap& announced, const net::HostPort& asked,
                               std::uint64_t epoch) {
  auto next = std::make_shared<SlotMap>();
  next->epoch = epoch;
  for (const AnnouncedShard& shard : announced) {
    const std::optional<NodeIndex> master = node_at(shard.master, asked);
    if (!master || shard.slots.empty()) continue;  // without slots it is only made known
    SlotMap::Shard& added = next->shards.emplace_back();
    added.master = *master;
    added.first_slot = shard.slots.front().first;
    for (const net::HostPort& replica : shard.replicas) {
      if (const std::optional<NodeIndex> index = node_at(replica, asked))
        added.replicas.push_back(*index);
    }
    for (const SlotRange& range : shard.slots) {
      for (std::size_t slot = range.first; slot <= range.last; ++slot) next->owners[slot] = *master;
      added.slots += static_cast<std::size_t>(range.last - range.first) + 1;
    }
    redis::UpstreamAddress& address = node(*master);
    if (address.addresses().empty()) static_cast<void>(address.look_up());
  }
  give_scan_ids(*next);
  const std::lock_guard lock(mutex_);
  const bool is_new =
      map_ == nullptr || map_->owners != next->owners || map_->shards != next->shards;
  if (!is_new && map_->epoch == epoch) return false;
  map_ = std::move(next);
  epoch_version_.fetch_add(1, std::memory_order_acq_rel);
  if (is_new) version_.fetch_add(1, std::memory_order_acq_rel);
  return is_new;
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
