// SPDX-License-Identifier: Apache-2.0
// Watches which server is the master, by Sentinels, by roles, or by the name of one server.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/leader_resolver.h"
#include "heatsink/topology/leader_verdict.h"

namespace heatsink::topology {

struct LeaderWatchOptions {
  net::RedisUrl url;                        // of the upstream, as configured
  redis::Credentials sentinel_credentials;  // to log in to Sentinels
  std::function<net::TlsContext()> tls;     // for new connections, if `url` has TLS
  redis::ServerConnectionOptions connection;
  LeaderResolver::Addresses resolved = {};  // of the name of one server, as far as it is known
};

// The loop's thread, which must not be blocked: it also proves copies. The implementations are
// SentinelWatch, ReplicaWatch and NameWatch.
class LeaderWatch {
 public:
  class Listener {
   public:
    // The leader or the problem is another one than before. With a leader, `addresses` are those to
    // connect to. `renews`: all connections must be made anew, even if the leader is the same.
    virtual void leader_changed(const LeaderVerdict& verdict,
                                const LeaderResolver::Addresses& addresses, bool renews) = 0;
    // LeaderVerdict::confirmed_at of the leader has changed.
    virtual void leader_confirmed(TimePoint at) = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~LeaderWatch() = default;
  virtual void begin() = 0;  // call it once, before the loop runs
  // The server refuses writes (READONLY), or has become a replica: look now.
  virtual void doubt() = 0;
  virtual SentinelCounts counts() const { return {}; }
};

// The login to the servers may change while the proxy runs.
using ServerCredentials = std::function<redis::Credentials()>;

// Passes the verdicts of a watch on, each change once. The loop's thread. The leader is another
// one, too, when its name does not lead any more to the address that was published first.
class LeaderPublisher {
 public:
  explicit LeaderPublisher(LeaderWatch::Listener& listener) : listener_(listener) {}

  void publish(const LeaderVerdict& verdict, const LeaderResolver::Addresses& addresses) {
    const bool has_moved = verdict.leader && !leads_to_the_same(addresses);
    const bool is_new =
        !said_ || said_->leader != verdict.leader || said_->problem != verdict.problem || has_moved;
    const TimePoint before = said_ ? said_->confirmed_at : TimePoint::min();
    said_ = verdict;
    if (has_moved) addresses_ = addresses;
    if (is_new) listener_.leader_changed(verdict, addresses_, has_moved);
    if (is_new || verdict.confirmed_at != before) listener_.leader_confirmed(verdict.confirmed_at);
  }

 private:
  bool leads_to_the_same(const LeaderResolver::Addresses& addresses) const {
    return !addresses_.empty() &&
           std::any_of(addresses.begin(), addresses.end(),
                       [this](const auto& each) { return same_address(each, addresses_.front()); });
  }

  LeaderWatch::Listener& listener_;
  LeaderResolver::Addresses addresses_;
  std::optional<LeaderVerdict> said_;
};

}  // namespace heatsink::topology
