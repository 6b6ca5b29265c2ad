// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_watch.h"

#include <optional>
#include <utility>
#include <vector>

#include "heatsink/topology/leader_verdict.h"

namespace heatsink::topology {

ReplicaWatch::ReplicaWatch(net::EventLoop& loop, LeaderWatchOptions options,
                           ServerCredentials credentials, Listener& listener)
    : loop_(loop),
      options_(std::move(options)),
      resolver_(loop),
      poll_(loop, resolver_, options_, std::move(credentials), [this] { decide(); }),
      leader_(loop.clock()),
      publisher_(listener) {}

ReplicaWatch::~ReplicaWatch() { loop_.cancel(timer_); }

void ReplicaWatch::begin() {
  poll_.add(options_.url.address);
  for (const net::HostPort& other : options_.url.others) poll_.add(other);
  poll_.ask();
  decide();
  timer_ = loop_.call_every(LeaderRolePoll::kInterval, [this] { turn(); });
}

// Servers that the known ones name are asked, too.
void ReplicaWatch::turn() {
  std::vector<net::HostPort> named;
  for (const ServerRole& each : poll_.roles().servers()) {
    if (each.is_answering && each.master) named.push_back(reachable_address(*each.master));
  }
  for (const net::HostPort& each : named) poll_.add(each);
  poll_.ask();
  decide();
}

void ReplicaWatch::decide() {
  LeaderVerdict verdict = leader_.decide(poll_.roles(), loop_.clock());
  LeaderResolver::Addresses addresses;
  if (verdict.leader) addresses = poll_.addresses_of(*verdict.leader);
  if (verdict.leader && addresses.empty()) {
    verdict.problem = "the name of " + verdict.leader->text() + " is not resolved yet";
    verdict.leader.reset();
  }
  publisher_.publish(verdict, addresses);
}

}  // namespace heatsink::topology
