// SPDX-License-Identifier: Apache-2.0
// The keeper's part of reads from replicas: which keys are hot, which servers are asked for their
// offsets, and when nothing is proven any more.
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {

void CopyKeeper::begin_replicas() {
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
  replicas_ = std::make_unique<topology::ReplicaMonitor>(loop_, shared_.replicas, std::move(how),
                                                         [this] { return shared_.credentials(); });
  replicas_->set_idle(true);
  adopt_replicas();
  follow_masters();
  // Maps of a cluster come from its watch.
  timers_.every(Millis(100), [this] {
    if (shared_.cluster.epoch_version() != replicas_version_) follow_masters();
  });
}

void CopyKeeper::adopt_replicas() {
  replicas_->set_lag(policy::shortest_lag(shared_.current().replica_reads));
}

// A single server is followed at the address that the workers use: a name may have several.
void CopyKeeper::follow_masters() {
  std::vector<topology::MonitoredMaster> masters;
  replicas_version_ = shared_.cluster.epoch_version();
  const std::shared_ptr<const topology::SlotMap> map = shared_.cluster.map();
  if (map == nullptr) {
    const redis::UpstreamAddress& server = shared_.upstream_address;
    const bool is_known = shared_.upstream.topology != net::Topology::kCluster &&
                          shared_.upstream.unix_path.empty() && !server.is_withheld();
    if (is_known) {
      topology::MonitoredMaster& master = masters.emplace_back();
      master.address = server.url().address;
      const std::vector<net::ResolvedAddress> addresses = server.addresses();
      if (!shared_.upstream.tls && !addresses.empty()) {
        if (auto exact = net::parse_host_port(net::address_text(addresses.front())); exact.ok())
          master.address = *std::move(exact);
      }
    }
    return replicas_->follow(masters);
  }
  masters.reserve(map->shards.size());
  for (const topology::SlotMap::Shard& shard : map->shards) {
    topology::MonitoredMaster& master = masters.emplace_back();
    master.index = shard.master;
    master.address = shared_.cluster.node(shard.master).url().address;
    master.replicas.reserve(shard.replicas.size());
    for (const topology::NodeIndex each : shard.replicas)
      master.replicas.push_back(shared_.cluster.node(each).url().address);
  }
  replicas_->follow(masters, map);
}

// Connections made anew to the same address may lead to another server.
void CopyKeeper::renew_masters() {
  if (replicas_ == nullptr) return;
  replicas_->forget();
  follow_masters();
}

// Keys that are write-hot are read, too.
void CopyKeeper::update_replica_reads() {
  if (replicas_ == nullptr) return;
  const PolicySnapshot& policy = shared_.current();
  std::vector<KeyHash> hot;
  std::vector<IdleKeepAlive::Key> keys;
  std::set<std::uint16_t> slots;
  if (!policy.replica_reads.empty()) {
    for (const detect::Verdict& verdict : selector_.verdicts()) {
      if (verdict.temperature == detect::Temperature::kWarm || verdict.count.key_truncated)
        continue;
      const std::size_t rule = policy.rule_of(verdict.count.key);
      if (policy.replica_reads[rule].from == policy::ReplicaReads::From::kMaster) continue;
      hot.push_back(verdict.count.hash);
      keys.push_back({verdict.count.db, verdict.count.key});
      slots.insert(resp::key_slot(verdict.count.key));
    }
  }
  keep_alive_.set_read_from_replicas(std::move(keys));
  replicas_->prove_slots(std::move(slots));
  replicas_->set_idle(shared_.hot_keys.assign(hot) == 0);
}

}  // namespace heatsink::copies
