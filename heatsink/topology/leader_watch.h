// SPDX-License-Identifier: Apache-2.0
// Watches which server is the master, by Sentinels, by roles, or by the name of one server.
#pragma once

#include <functional>

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

}  // namespace heatsink::topology
