// SPDX-License-Identifier: Apache-2.0
// Follows the master of a master with replicas, by asking all of them for their roles.
#pragma once

#include "heatsink/topology/leader_role_poll.h"
#include "heatsink/topology/leader_watch.h"
#include "heatsink/topology/replica_leader.h"

namespace heatsink::topology {

class ReplicaWatch final : public LeaderWatch {
 public:
  ReplicaWatch(net::EventLoop& loop, LeaderWatchOptions options, ServerCredentials credentials,
               Listener& listener);
  ~ReplicaWatch() override;

  void begin() override;
  void doubt() override { poll_.ask(); }

 private:
  void turn();
  void decide();

  net::EventLoop& loop_;
  const LeaderWatchOptions options_;
  LeaderResolver resolver_;
  LeaderRolePoll poll_;
  ReplicaLeader leader_;
  LeaderPublisher publisher_;
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::topology
