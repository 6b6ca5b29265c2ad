// SPDX-License-Identifier: Apache-2.0
// Has the replicas watched from which hot keys are read: of which masters, and for which keys.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "heatsink/copies/idle_keep_alive.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// Hot keys that rules read from replicas.
struct ReplicaKeys {
  std::vector<KeyHash> hashes;
  std::vector<IdleKeepAlive::Key> names;
  std::set<std::uint16_t> slots;
};
// Of hot and write-hot keys: those are read, too. O(verdicts).
ReplicaKeys replica_keys(const PolicySnapshot& policy, std::span<const detect::Verdict> verdicts);

// The masters of the map of slots; without a map the single server at the address that the workers
// use, because a name may have several. None: the server is not known, or cannot be watched.
std::vector<topology::MonitoredMaster> masters_of(NodeState& shared);

// Verdicts and maps flow in; NodeState::replicas and ::hot_keys flow out. Before begin() all other
// calls do nothing. The keeper's thread.
class ReplicaFollower {
 public:
  // Both outlive it.
  ReplicaFollower(NodeState& shared, net::EventLoop& loop) : shared_(shared), loop_(loop) {}
  ReplicaFollower(const ReplicaFollower&) = delete;

  void begin();
  void tick();            // every 100 ms: follows a new map
  void follow_options();  // NodeState has others
  // Connections made anew to the same address may lead to another server.
  void renew();
  // After each judging. Returns the keys that the master must not take for idle.
  std::vector<IdleKeepAlive::Key> follow(std::span<const detect::Verdict> verdicts);

 private:
  void follow_masters();

  NodeState& shared_;
  net::EventLoop& loop_;
  std::unique_ptr<topology::ReplicaMonitor> monitor_;  // null: before begin()
  std::uint64_t map_version_ = 0;                      // epoch_version() of the map it follows
};

}  // namespace heatsink::copies
