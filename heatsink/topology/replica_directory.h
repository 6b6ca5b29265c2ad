// SPDX-License-Identifier: Apache-2.0
// Holds what all threads know of the replicas: where they are, and what is proven of each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/topology/replica_lag.h"
#include "heatsink/topology/slot_map.h"
#include "heatsink/topology/slot_proofs.h"

namespace heatsink::topology {

// One replica. The monitor's thread publishes; any thread reads, without a lock.
class Replica {
 public:
  // `server`: its address, with user and TLS as for the master.
  Replica(net::RedisUrl server, bool in_cluster)
      : at(server.address),
        is_node(in_cluster),
        address(std::move(server), redis::UpstreamAddress::Resolved::kElsewhere) {}

  const net::HostPort at;
  const bool is_node;
  redis::UpstreamAddress address;

  // heard_at() must be read before the other two: then they were true at that time, or later.
  TimePoint heard_at() const noexcept {
    return TimePoint(Nanos(heard_at_.load(std::memory_order_acquire)));
  }
  TimePoint no_older_than() const noexcept {
    return TimePoint(Nanos(no_older_than_.load(std::memory_order_acquire)));
  }
  // When the monitor first heard this process. A connection from before may lead to another one.
  TimePoint process_since() const noexcept {
    return TimePoint(Nanos(process_since_.load(std::memory_order_acquire)));
  }
  // Whether this is the master ("host:port") that it followed when it was proven last. False while
  // nothing is proven.
  bool follows(std::string_view master) const noexcept {
    return follows_.load(std::memory_order_acquire) == name_of(master);
  }
  ReplicaFault fault() const noexcept { return fault_.load(std::memory_order_relaxed); }
  bool is_near() const noexcept { return is_near_.load(std::memory_order_relaxed); }
  std::string zone() const {  // "": not known
    const std::lock_guard lock(mutex_);
    return zone_;
  }

  // The monitor.
  void publish(const ReplicaProof& proof, TimePoint no_older_than) noexcept {
    fault_.store(proof.fault, std::memory_order_relaxed);
    const bool is_proven = no_older_than != TimePoint::min() && !proof.follows.empty();
    follows_.store(is_proven ? name_of(proof.follows) : 0, std::memory_order_release);
    process_since_.store(proof.process_since.time_since_epoch().count(), std::memory_order_release);
    no_older_than_.store(no_older_than.time_since_epoch().count(), std::memory_order_release);
    heard_at_.store(proof.heard_at.time_since_epoch().count(), std::memory_order_release);
  }
  // It is no replica any more.
  void leave() noexcept { publish({}, TimePoint::min()); }
  void set_zone(std::string zone, bool is_near) {
    is_near_.store(is_near, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    zone_ = std::move(zone);
  }

  std::atomic<std::uint64_t> reads{0};  // that were sent to it; the workers count

 private:
  // Not 0. The names are those of servers, which could say anything else, too.
  static std::uint64_t name_of(std::string_view master) noexcept {
    return hash_name(master, 0).value | 1U;
  }

  std::atomic<std::uint64_t> follows_{0};
  std::atomic<std::int64_t> heard_at_{TimePoint::min().time_since_epoch().count()};
  std::atomic<std::int64_t> no_older_than_{TimePoint::min().time_since_epoch().count()};
  std::atomic<std::int64_t> process_since_{TimePoint::min().time_since_epoch().count()};
  std::atomic<ReplicaFault> fault_{ReplicaFault::kSilent};
  std::atomic<bool> is_near_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::string zone_;
};

// The replicas of each master. Immutable once published.
struct ReplicaMap {
  struct Shard {
    NodeIndex master = kNoNode;  // of a cluster; kNoNode: the one master that there is
    std::vector<std::shared_ptr<Replica>> replicas;
  };
  std::vector<Shard> shards;

  const Shard* find(NodeIndex master) const {
    for (const Shard& shard : shards)
      if (shard.master == master) return &shard;
    return nullptr;
  }
};

// Any thread; the monitor publishes.
class ReplicaDirectory {
 public:
  SlotProofs slots;  // of a cluster: those of hot keys

  // Grows with each publish(); 0: no map yet. One load.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const ReplicaMap> map() const {  // null: none yet
    const std::lock_guard lock(mutex_);
    return map_;
  }
  void publish(std::shared_ptr<const ReplicaMap> map) {
    {
      const std::lock_guard lock(mutex_);
      map_ = std::move(map);
    }
    version_.fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const ReplicaMap> map_;
};

}  // namespace heatsink::topology
