// SPDX-License-Identifier: Apache-2.0
// Decides from the roles of a master and its replicas which one is the master.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/topology/leader_roles.h"
#include "heatsink/topology/leader_verdict.h"

namespace heatsink::topology {

// A state machine: roles and times in, a verdict out. One thread.
//  * At the start exactly one server may say that it is the master.
//  * Later the master is the one that became it last: it was a replica when it was last seen.
//  Another
//    server that says so, such as a former master that was restarted, is not followed.
//  * A master that becomes a replica is not used any more.
class ReplicaLeader {
 public:
  // At the start all servers have this long to answer; then those that did decide.
  static constexpr Nanos kFirstAnswers = std::chrono::seconds(2);

  explicit ReplicaLeader(TimePoint now) : begun_at_(now) {}

  LeaderVerdict decide(LeaderRoles& roles, TimePoint now);
  const std::optional<net::HostPort>& leader() const { return leader_; }

 private:
  std::string choose(LeaderRoles& roles, TimePoint now);

  const TimePoint begun_at_;
  std::optional<net::HostPort> leader_;
  // The last leader, after it became a replica; it may name its master.
  std::optional<net::HostPort> former_;
};

}  // namespace heatsink::topology
