// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/replica_follower.h"

#include <optional>
#include <utility>

namespace heatsink::copies {

ReplicaKeys replica_keys(const PolicySnapshot& policy, std::span<const detect::Verdict> verdicts) {
  ReplicaKeys keys;
  if (policy.replica_reads.empty()) return keys;
  for (const detect::Verdict& verdict : verdicts) {
    if (verdict.temperature == detect::Temperature::kWarm || verdict.count.key_truncated) continue;
    const std::size_t rule = policy.rule_of(verdict.count.key);
    if (policy.replica_reads[rule].from == policy::ReplicaReads::From::kMaster) continue;
    keys.hashes.push_back(verdict.count.hash);
    keys.names.push_back({verdict.count.db, verdict.count.key});
    keys.slots.insert(resp::key_slot(verdict.count.key));
  }
  return keys;
}

std::vector<topology::MonitoredMaster> masters_of(NodeState& shared) {
  std::vector<topology::MonitoredMaster> masters;
  if (const std::shared_ptr<const topology::SlotMap> map = shared.cluster.map()) {
    masters.reserve(map->shards.size());
    for (const topology::SlotMap::Shard& shard : map->shards) {
      topology::MonitoredMaster& master = masters.emplace_back();
      master.index = shard.master;
      master.address = shared.cluster.node(shard.master).url().address;
      master.replicas.reserve(shard.replicas.size());
      for (const topology::NodeIndex each : shard.replicas)
        master.replicas.push_back(shared.cluster.node(each).url().address);
    }
    return masters;
  }
  const redis::UpstreamAddress& server = shared.upstream_address;
  const bool is_known = shared.upstream.topology != net::Topology::kCluster &&
                        shared.upstream.unix_path.empty() && !server.is_withheld();
  if (!is_known) return masters;
  topology::MonitoredMaster& master = masters.emplace_back();
  master.address = server.url().address;
  const std::vector<net::ResolvedAddress> addresses = server.addresses();
  if (shared.upstream.tls || addresses.empty()) return masters;
  if (auto exact = net::parse_host_port(net::address_text(addresses.front())); exact.ok())
    master.address = *std::move(exact);
  return masters;
}

void ReplicaFollower::begin() {
  const policy::ProxyOptions& options = shared_.options();
  topology::ReplicaMonitorOptions how;
  how.url = shared_.upstream;
  how.tls = [this] { return shared_.upstream_address.tls(); };
  how.connection = shared_.connection_options();
  how.translation = shared_.cluster.translation();
  // Its text was checked at the start.
  if (auto read = topology::Zones::parse(options.zones); read.ok()) how.zones = *std::move(read);
  how.zone = options.zone;
  how.missing_key = options.heartbeat_key;
  how.map_is_old = [this](topology::NodeIndex node) {
    shared_.cluster.is_stale(node == topology::kNoNode ? std::nullopt : std::optional(node));
  };
  monitor_ = std::make_unique<topology::ReplicaMonitor>(loop_, shared_.replicas, std::move(how),
                                                        [this] { return shared_.credentials(); });
  monitor_->set_idle(true);
  follow_options();
  follow_masters();
}

// Maps of a cluster come from its watch.
void ReplicaFollower::tick() {
  if (monitor_ && shared_.cluster.epoch_version() != map_version_) follow_masters();
}

void ReplicaFollower::follow_options() {
  if (monitor_) monitor_->set_lag(policy::shortest_lag(shared_.current().replica_reads));
}

void ReplicaFollower::follow_masters() {
  map_version_ = shared_.cluster.epoch_version();
  const std::shared_ptr<const topology::SlotMap> map = shared_.cluster.map();
  monitor_->follow(masters_of(shared_), map);
}

void ReplicaFollower::renew() {
  if (!monitor_) return;
  monitor_->forget();
  follow_masters();
}

std::vector<IdleKeepAlive::Key> ReplicaFollower::follow(std::span<const detect::Verdict> verdicts) {
  if (!monitor_) return {};
  ReplicaKeys keys = replica_keys(shared_.current(), verdicts);
  monitor_->prove_slots(std::move(keys.slots));
  monitor_->set_idle(shared_.hot_keys.assign(keys.hashes) == 0);
  return std::move(keys.names);
}

}  // namespace heatsink::copies
