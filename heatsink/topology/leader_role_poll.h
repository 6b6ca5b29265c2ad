// SPDX-License-Identifier: Apache-2.0
// Asks a set of servers for their roles, ten times a second.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/topology/leader_peer.h"
#include "heatsink/topology/leader_roles.h"
#include "heatsink/topology/leader_watch.h"

namespace heatsink::topology {

// The loop's thread. The peers are those of roles().
class LeaderRolePoll {
 public:
  static constexpr Nanos kInterval = Millis(100);

  LeaderRolePoll(net::EventLoop& loop, LeaderResolver& resolver, const LeaderWatchOptions& options,
                 ServerCredentials credentials, std::function<void()> changed)
      : loop_(loop),
        resolver_(resolver),
        options_(options),
        credentials_(std::move(credentials)),
        changed_(std::move(changed)) {}

  LeaderRoles& roles() { return roles_; }
  void add(const net::HostPort& server);
  // Keeps those only, and adds what is new. Call it outside of a peer's answer.
  void keep(const std::vector<net::HostPort>& servers);
  // Call it every kInterval: asks all.
  void ask();
  // The addresses of a known server; empty: not resolved yet.
  LeaderResolver::Addresses addresses_of(const net::HostPort& server) const;

 private:
  void take(const net::HostPort& server, const Result<std::vector<resp::Value>>& replies,
            TimePoint asked_at);
  LeaderPeerOptions peer_options() const;

  net::EventLoop& loop_;
  LeaderResolver& resolver_;
  const LeaderWatchOptions& options_;
  const ServerCredentials credentials_;
  const std::function<void()> changed_;  // a role may have changed
  LeaderRoles roles_;
  redis::Credentials used_;  // by the peers
  std::vector<std::unique_ptr<LeaderPeer>> peers_;
};

}  // namespace heatsink::topology
