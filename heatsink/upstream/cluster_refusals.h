// SPDX-License-Identifier: Apache-2.0
// Sends what a node of a cluster has refused to the node that the refusal names.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/command/pending.h"
#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/scatter.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

class SingleServer;

// A node that refuses a request with MOVED, ASK or TRYAGAIN has not executed it. This class keeps
// the request until a connection to the right node accepts it: in order for each node, with a pause
// where nodes contradict each other, and at most until upstream.response-timeout has passed (5 s if
// that is less). Then the client gets an error. One per ClusterServers; its worker's thread.
// Memory: the refused requests.
class ClusterRefusals final : private Scatter::Owner {
 public:
  // Implemented by ClusterServers.
  class Owner {
   public:
    virtual SingleServer& server_at(redis::UpstreamAddress& address) = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it.
  ClusterRefusals(Owner& owner, ServersState& shared, net::EventLoop& loop,
                  copies::Counters& counters, Upstream::Host& replies)
      : owner_(owner), shared_(shared), loop_(loop), counters_(counters), replies_(replies) {}
  ~ClusterRefusals() { loop_.cancel(timer_); }
  ClusterRefusals(const ClusterRefusals&) = delete;

  // See Upstreams.
  bool reroute(Upstream& from, Pending& pending, std::string_view request, std::string_view error);
  redis::UpstreamAddress* node_named_by(const topology::Redirect& redirect, const Upstream& from);

  // Ends the requests on their way to this node: another one has replaced it.
  void refuse_those_for(const redis::UpstreamAddress& replaced);
  // Frees what may be on the call stack until then.
  void end_turn() { ended_.clear(); }

  bool owes_nothing() const { return refused_.empty(); }
  // Also no parts of a request are on connections.
  bool is_unused() const { return refused_.empty() && splits_.empty(); }
  std::uint64_t memory_bytes() const;

 private:
  // The node that an error has named, which the cluster itself must name before it is used.
  struct Awaited {
    net::HostPort node;
    redis::UpstreamAddress* named_by = nullptr;
  };
  // A request that a node has refused, on its way to another one.
  struct Refused {
    redis::UpstreamAddress* to = nullptr;  // null: not known yet, see `awaited`
    std::optional<Awaited> awaited;
    bool asking = false;
    TimePoint not_before{};
    Pending pending;
  };
  // A read of several keys, of which some are on each of the two nodes of a move: it is sent key by
  // key.
  struct Split {
    Pending whole;
    std::unique_ptr<Scatter> parts;
  };

  void send_refused();
  bool teach(Upstream& from, Pending& pending, std::string_view request);
  bool splits(const Pending& pending) const;
  bool split(Upstream& from, Pending& pending);
  void scatter_ended(Scatter& scatter) override;
  void find_awaited(Refused& refused);
  bool send_one(Refused& refused);
  void wake_later();
  void refuse(Pending&& pending, const std::string& why);
  void lose(Pending&& pending, const std::string& why);
  void answer(Pending&& pending, std::string_view wire);

  Owner& owner_;
  ServersState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Upstream::Host& replies_;
  std::deque<Refused> refused_;
  std::vector<Split> splits_;                    // in flight
  std::vector<std::unique_ptr<Scatter>> ended_;  // freed at the end of the turn
  net::TimerId timer_ = 0;                       // sends what waits
};

}  // namespace heatsink::proxy
