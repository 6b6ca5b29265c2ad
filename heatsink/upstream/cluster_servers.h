// SPDX-License-Identifier: Apache-2.0
// Holds one worker's connections to the nodes of a cluster, and follows the map of slots.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/cluster_refusals.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/single_server.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One per worker; its thread. Without a map of slots it is one SingleServer, to the address of the
// URL, which may be no cluster at all. With a map, each master is a SingleServer of its own: made
// when a request needs it, and dropped when the map no longer has it and no client uses it.
//
// What a node refuses goes to another one (ClusterRefusals). Commands without keys go to one node,
// the home, until it is lost.
class ClusterServers final : public Upstreams,
                             private Upstreams::Host,
                             private ClusterRefusals::Owner {
 public:
  // All outlive it. `random`: the seed for pauses.
  ClusterServers(ServersState& shared, net::EventLoop& loop, copies::Counters& counters,
                 Upstreams::Host& host, Upstream::Host& replies, std::uint64_t random);
  ~ClusterServers() override;
  ClusterServers(const ClusterServers&) = delete;

  std::uint64_t map_version() override;
  std::shared_ptr<const topology::SlotMap> slot_map() override {
    follow_map();
    return map_;
  }
  Shared shared(resp::Protocol protocol, const Destination& to) override {
    return at(to).shared(protocol, to);
  }
  void await_shared(resp::Protocol protocol, const Destination& to,
                    const Requester& session) override {
    at(to).await_shared(protocol, to, session);
  }
  Upstream* shared_beside(const Upstream& connection) override {
    return of(connection).shared_beside(connection);
  }
  bool is_away(const Destination& to) override { return at(to).is_away(to); }
  std::unique_ptr<Upstream> borrow(ConnectionOwner& session, const Destination& to,
                                   const Need& need) override;
  bool carries(const Upstream& connection, const Destination& to) override;
  void give_back(std::unique_ptr<Upstream> connection, bool clean) override;
  std::unique_ptr<Upstream> adopt(ConnectionOwner& session, net::Stream connection,
                                  const CarriedPrivate& state) override;
  void discard(std::unique_ptr<Upstream> connection) override;
  std::vector<redis::UpstreamAddress*> all_masters() override;
  bool reroute(Upstream& from, Pending& pending, std::string_view request,
               std::string_view error) override {
    return refusals_.reroute(from, pending, request, error);
  }
  redis::UpstreamAddress* node_named_by(const topology::Redirect& redirect,
                                        const Upstream& from) override {
    return refusals_.node_named_by(redirect, from);
  }
  void ready(Upstream& connection) override;
  void failed(Upstream& connection, const std::string& reason) override;
  void server_moved() override;
  void map_changed() override;
  void check_timeouts(TimePoint now) override;
  void wake_ready() override;
  void end_turn() override;
  bool owes_nothing() const override;
  void shrink() override;
  std::uint64_t memory_bytes() const override;
  // Nothing is in flight, no session waits, and none has a private connection.
  bool is_unused() const;
  void forget_refusals();  // see SingleServer

 private:
  struct Node {
    const redis::UpstreamAddress* address = nullptr;
    std::unique_ptr<SingleServer> server;
    std::size_t borrowed = 0;  // private connections that clients hold
    bool in_map = true;
    TimePoint left_at{};       // since when it is not, or what it owed was last ended
    bool is_replaced = false;  // by a master of a higher config epoch, and not heard of since
  };

  // Upstreams::Host, for the SingleServers.
  std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                 Upstream::Login login, ConnectionOwner* owner) override {
    return host_.open(server, protocol, login, owner);
  }
  void shared_decided(std::uint64_t session) override { host_.shared_decided(session); }
  void server_is_back() override { host_.server_is_back(); }
  void server_left() override;
  void shared_renewed(TimePoint lost_at) override;
  void node_left(const redis::UpstreamAddress& /*server*/) override {}  // not called by them

  // ClusterRefusals::Owner
  SingleServer& server_at(redis::UpstreamAddress& address) override {
    return *node_of(address).server;
  }

  void follow_map();
  void mark_nodes(const topology::SlotMap* before);
  bool has_replaced(const redis::UpstreamAddress& server, const topology::SlotMap& before) const;
  void end_owed(TimePoint now);
  void end_owed_in(Nanos pause);
  Node& node_of(redis::UpstreamAddress& server);
  redis::UpstreamAddress* node_behind(const net::Stream& connection);  // null: not known
  SingleServer& at(const Destination& to);
  SingleServer& of(const Upstream& connection);
  redis::UpstreamAddress& home();

  ServersState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Upstreams::Host& host_;
  std::uint64_t random_;
  std::shared_ptr<const topology::SlotMap> map_;  // null: none yet
  std::uint64_t version_ = 0;                     // of map_
  bool looked_ = false;                           // at the directory, in this turn
  redis::UpstreamAddress* home_ = nullptr;
  // In the order of their first use: that of addresses in memory is not the same in each process.
  std::list<Node> nodes_;
  std::unordered_map<const redis::UpstreamAddress*, Node*> by_address_;
  const redis::UpstreamAddress* latest_server_ = nullptr;  // that node_of() was asked for
  Node* latest_node_ = nullptr;                            // null: may be gone
  ClusterRefusals refusals_;
  net::TimerId look_timer_ = 0;  // follows the map in the next turn
  net::TimerId owed_timer_ = 0;  // ends what replaced masters owe
};

}  // namespace heatsink::proxy
