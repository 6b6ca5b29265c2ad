// SPDX-License-Identifier: Apache-2.0
// Holds one worker's connections to the nodes of a cluster for clients whose ACL user is not the
// proxy's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "heatsink/command/client_user.h"
#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/upstream/cluster_servers.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One per worker; its thread. A login on one connection is worth nothing at the other nodes, so
// each user has connections of its own, and all of the worker's clients that have logged in with
// the same name and password share them. The servers check every command, as the user's.
//
// The caller gives a user only to a client whose password a server has just accepted: nothing here
// checks one. Passwords stay in memory while a user is kept, because a node that comes later, or
// comes back, asks for them.
class UserServers {
 public:
  static constexpr std::size_t kUsersMax = 256;
  // Of one user: without one (nopass), every password is right.
  static constexpr std::size_t kPasswordsMax = 16;
  // A user without clients keeps its connections for so long.
  static constexpr Nanos kKeptFor = std::chrono::seconds(60);

  // All outlive it. `random`: the seed for pauses.
  UserServers(ServersState& shared, net::EventLoop& loop, copies::Counters& counters,
              Upstreams::Host& host, Upstream::Host& replies, std::uint64_t random)
      : shared_(shared),
        loop_(loop),
        counters_(counters),
        host_(host),
        replies_(replies),
        random_(random) {}
  UserServers(const UserServers&) = delete;

  // False: kUsersMax other users have clients, or kPasswordsMax of this one.
  bool has_room_for(const redis::Credentials& credentials) const;
  // The user stays while the result is kept. REQUIRES has_room_for(), and that a server has
  // accepted the credentials.
  std::shared_ptr<const ClientUser> of(const redis::Credentials& credentials);

  // Called by the worker. The connections of all users, as Upstreams.
  void server_moved();
  void map_changed();
  void check_timeouts(TimePoint now);
  void wake_ready();
  void end_turn();
  bool owes_nothing() const;
  void shrink();
  std::uint64_t memory_bytes() const;

 private:
  // What the nodes say to a user says nothing about the proxy's own connections, from which the
  // copies come.
  class User final : public ClientUser, private Upstreams::Host {
   public:
    User(UserServers& all, const redis::Credentials& given);
    ClusterServers servers;
    TimePoint used_at{};
    bool is_old = false;  // it has had no client for kKeptFor

   private:
    std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                   Upstream::Login login, ConnectionOwner* owner) override;
    void shared_decided(std::uint64_t session) override { host_.shared_decided(session); }
    void server_is_back() override {}
    void server_left() override {}
    void shared_renewed(TimePoint /*lost_at*/) override {}
    void node_left(const redis::UpstreamAddress& server) override { host_.node_left(server); }

    Upstreams::Host& host_;
  };
  using Key = std::pair<std::string, std::string>;  // user, password

  bool has_client(const std::shared_ptr<User>& user) const { return user.use_count() > 1; }

  ServersState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Upstreams::Host& host_;
  Upstream::Host& replies_;
  std::uint64_t random_;
  std::map<Key, std::shared_ptr<User>> users_;
};

}  // namespace heatsink::proxy
