// SPDX-License-Identifier: Apache-2.0
// Asks masters and replicas for their offsets, and publishes how old each replica is at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
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
#include "heatsink/topology/slot_map.h"
#include "heatsink/topology/zones.h"

namespace heatsink::topology {

struct ReplicaMonitorOptions {
  net::RedisUrl url;                     // of the upstream, as configured
  std::function<net::TlsContext()> tls;  // for new connections, if `url` has TLS
  redis::ServerConnectionOptions connection;
  AddressTranslation translation;  // of what a master says about its replicas
  std::string zone;                // the proxy's own; "": none
  std::string missing_key;         // a name that no key has, in any slot
  Zones zones;
  // A master has shown a newer epoch, or said MOVED. The node may know better; kNoNode: not known.
  std::function<void(NodeIndex)> map_is_old;
};

// A master to watch.
struct MonitoredMaster {
  NodeIndex index = kNoNode;
  net::HostPort address;
  // In a cluster: its replicas by the map of slots. Otherwise the master itself names them.
  std::vector<net::HostPort> replicas;

  friend bool operator==(const MonitoredMaster&, const MonitoredMaster&) = default;
};

// The loop's thread. One connection to each master and replica, at most kServersMax in all. Each
// round asks a master first, and its replicas once it has answered, so that a replica in step
// proves the time of this round.
//
// In a cluster nothing is proven after the time at which a majority of the masters showed no sign
// of a new one (EpochQuorum). And each slot with hot keys needs a proof of its own: its replicas'
// offsets say nothing of keys that have moved to another master. So the master is asked for a key
// of the slot that does not exist. It refuses from the moment on that keys may leave.
//
// Cost per round and server: INFO replication, 4 to 6 us of its CPU time; a replica answers INFO
// server as well, a master of a cluster CLUSTER INFO and one EXISTS for each slot with hot keys.
class ReplicaMonitor {
 public:
  static constexpr std::size_t kServersMax = 512;
  static constexpr std::size_t kSlotsMax = 1024;  // keys of further slots are read from masters
  static constexpr Nanos kPaceMin = Millis(50);
  static constexpr Nanos kPaceMax = std::chrono::seconds(1);  // also while no key is hot
  static constexpr int kRoundsPerLag = 4;

  // All references outlive it.
  ReplicaMonitor(net::EventLoop& loop, ReplicaDirectory& directory, ReplicaMonitorOptions options,
                 ServerCredentials credentials);
  ~ReplicaMonitor();
  ReplicaMonitor(const ReplicaMonitor&) = delete;

  // The masters now, and the map that they are from, if they are a cluster. Nothing that was proven
  // with others counts any more.
  void follow(const std::vector<MonitoredMaster>& masters,
              const std::shared_ptr<const SlotMap>& map = nullptr);
  // The slots of a cluster to be proven, without repetition. A slot that is not one of them is not
  // proven any more.
  void prove_slots(std::set<std::uint16_t> slots);
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

  void follow_map(const std::vector<MonitoredMaster>& masters,
                  const std::shared_ptr<const SlotMap>& map);
  void turn();
  void ask_master(Shard& shard);
  void take_master(Shard& shard, const std::vector<std::uint16_t>& slots,
                   const Result<std::vector<resp::Value>>& replies, TimePoint asked_at);
  void take_slot(const Shard& shard, std::uint16_t slot, const resp::Value& reply,
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
  std::shared_ptr<const SlotMap> map_;  // null: no cluster
  std::set<std::uint16_t> slots_;       // to be proven
  redis::Credentials used_;             // by the peers
  std::vector<MonitoredMaster> masters_;
  std::vector<std::unique_ptr<Shard>> shards_;
  bool is_map_due_ = false;  // publish_map() follows in the next turn
  Nanos lag_{0};
  bool idle_ = false;
  TimePoint asked_at_ = TimePoint::min();
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::topology
