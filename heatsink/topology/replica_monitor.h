// SPDX-License-Identifier: Apache-2.0
// Asks masters and replicas for their offsets, and publishes how old each replica is at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/address_translation.h"
#include "heatsink/topology/epoch_quorum.h"
#include "heatsink/topology/leader_peer.h"
#include "heatsink/topology/leader_resolver.h"
#include "heatsink/topology/leader_watch.h"
#include "heatsink/topology/replica_directory.h"
#include "heatsink/topology/zones.h"

namespace heatsink::topology {

struct ReplicaMonitorOptions {
  net::RedisUrl url;                     // of the upstream, as configured
  std::function<net::TlsContext()> tls;  // for new connections, if `url` has TLS
  redis::ServerConnectionOptions connection;
  AddressTranslation translation;  // of what a master says about its replicas
  std::string zone;                // the proxy's own; "": none
  Zones zones;
  std::function<void(NodeIndex)> map_is_old;  // a master has shown a newer epoch
};

// A master to watch.
struct MonitoredMaster {
  NodeIndex index = kNoNode;
  net::HostPort address;
  // Of a cluster: its replicas by the map of slots. Otherwise the master itself names them.
  std::vector<net::HostPort> replicas;

  friend bool operator==(const MonitoredMaster&, const MonitoredMaster&) = default;
};

// The loop's thread. One connection to each master and replica, at most kServersMax in all. Each
// round asks a master first, and its replicas once it has answered, so that a replica in step
// proves the time of this round. In a cluster nothing is proven after the time at which a majority
// of the masters showed no sign of a new one (EpochQuorum).
//
// Cost per round and server: INFO replication, 4 to 6 us of its CPU time; a replica answers INFO
// server as well, a master of a cluster CLUSTER INFO.
class ReplicaMonitor {
 public:
  static constexpr std::size_t kServersMax = 512;
  static constexpr Nanos kPaceMin = Millis(50);
  static constexpr Nanos kPaceMax = std::chrono::seconds(1);  // also while no key is hot
  static constexpr int kRoundsPerLag = 4;

  // All references outlive it.
  ReplicaMonitor(net::EventLoop& loop, ReplicaDirectory& directory, ReplicaMonitorOptions options,
                 ServerCredentials credentials);
  ~ReplicaMonitor();
  ReplicaMonitor(const ReplicaMonitor&) = delete;

  // The masters now. Nothing that was proven with others counts any more. `epoch`: of a cluster's
  // map; `owners_changed`: since the map before.
  void follow(const std::vector<MonitoredMaster>& masters, std::uint64_t epoch = 0,
              bool owners_changed = false);
  // Another server may be at the address of a master, or has other data: nothing is proven, and the
  // masters are asked on new connections. Call it outside of a peer's answer.
  void forget();

  // The shortest bound that a rule has; 0: no rule reads from replicas, so no server is asked.
  void set_lag(Nanos shortest);
  // No key is read from replicas now: asks once per kPaceMax.
  void set_idle(bool idle);

  Nanos pace() const;  // between two rounds

 private:
  struct Link;
  struct Shard;

  void turn();
  void ask_master(Shard& shard);
  void take_master(Shard& shard, const Result<std::vector<resp::Value>>& replies,
                   TimePoint asked_at);
  void take_named(Shard& shard, const std::vector<net::HostPort>& named);
  void ask_replicas(Shard& shard);
  void take_replica(Shard& shard, Link& link, const Result<std::vector<resp::Value>>& replies,
                    TimePoint asked_at);
  void set_replicas(Shard& shard, const std::vector<net::HostPort>& wanted);
  void hear_epoch(const Shard& shard, const resp::Value& info, TimePoint asked_at);
  void publish(const Link& link);
  void publish_proofs();
  void publish_map();
  void clear();
  std::size_t servers() const;
  std::unique_ptr<LeaderPeer> peer(const net::HostPort& server);
  void arm();

  net::EventLoop& loop_;
  ReplicaDirectory& directory_;
  const ReplicaMonitorOptions options_;
  const ServerCredentials credentials_;
  LeaderResolver resolver_;
  EpochQuorum quorum_;
  bool is_cluster_ = false;
  redis::Credentials used_;  // by the peers
  std::vector<MonitoredMaster> masters_;
  std::vector<std::unique_ptr<Shard>> shards_;
  bool is_map_due_ = false;  // publish_map() follows in the next turn
  Nanos lag_{0};
  bool idle_ = false;
  TimePoint asked_at_ = TimePoint::min();
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::topology
