// SPDX-License-Identifier: Apache-2.0
// Owns the connections of one worker to the servers: with the proxy's login, with those of clients'
// users, and to replicas.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/upstream/replica_servers.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"
#include "heatsink/upstream/user_servers.h"

namespace heatsink::proxy {

// One per worker; its thread. Calls at the end of a turn: `(flush wake_ready)+ end_turn`.
class ServerConnections {
 public:
  // All outlive it. `random`: a seed.
  ServerConnections(ServersState& shared, net::EventLoop& loop, copies::Counters& counters,
                    Upstreams::Host& host, Upstream::Host& replies, std::uint64_t random);
  ServerConnections(const ServerConnections&) = delete;

  Upstreams& own() { return *own_; }  // with the proxy's login
  UserServers& users() { return users_; }
  ReplicaServers& replicas() { return replicas_; }
  // What opened the connection.
  Upstreams& opener(const Upstream& connection) { return opener_of(connection, *own_); }

  void begin();  // opens the first connection, so that the first client need not wait
  void server_moved();
  void map_changed();
  void check_timeouts(TimePoint now);

  // Sends the output of this connection when the turn ends.
  void flush_later(Upstream& connection) {
    if (connection.mark_dirty()) dirty_.push_back(&connection);
  }
  bool has_due() const { return !dirty_.empty(); }
  void flush();       // also chooses a replica for the reads of the turn
  void wake_ready();  // wakes sessions whose connection has become free
  void end_turn();    // frees connections that have failed

  bool owes_nothing() const;
  void shrink();  // releases buffers that are empty
  std::uint64_t memory_bytes() const;

 private:
  copies::Counters& counters_;
  std::vector<Upstream*> dirty_;
  std::unique_ptr<Upstreams> own_;
  UserServers users_;
  ReplicaServers replicas_;
};

}  // namespace heatsink::proxy
