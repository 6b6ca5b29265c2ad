// SPDX-License-Identifier: Apache-2.0
// Holds one worker's connections to one server: a shared one for each protocol, and a pool of
// private ones.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/net/net.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// It connects on demand, and again after a shared connection is lost. Between failed attempts it
// pauses, longer each time, unless another worker has reached the server meanwhile.
//
// While the server is away, requests wait for it, until the first of them has waited for
// upstream.connect-wait. Later ones fail at once: an outage that has lasted for longer than a
// restart is likely to go on, and clients that fall back on something else must learn it quickly.
class SingleServer final : public Upstreams {
 public:
  // All outlive it. `random`: the seed for its pauses.
  SingleServer(ServersState& shared, redis::UpstreamAddress& server, net::EventLoop& loop,
               copies::Counters& counters, Host& host, std::uint64_t random)
      : shared_(shared),
        server_(server),
        loop_(loop),
        counters_(counters),
        host_(host),
        random_(random) {}
  ~SingleServer() override;
  SingleServer(const SingleServer&) = delete;

  Shared shared(resp::Protocol protocol, const Destination& to) override;
  void await_shared(resp::Protocol protocol, const Destination& to,
                    const Requester& session) override;
  Upstream* shared_beside(const Upstream& connection) override;
  bool is_away(const Destination& to) override;
  std::unique_ptr<Upstream> borrow(ConnectionOwner& session, const Destination& to,
                                   const Need& need) override;
  bool carries(const Upstream& /*connection*/, const Destination& /*to*/) override { return true; }
  void give_back(std::unique_ptr<Upstream> connection, bool clean) override;
  std::unique_ptr<Upstream> adopt(ConnectionOwner& session, net::Stream connection,
                                  const CarriedPrivate& state) override;
  void discard(std::unique_ptr<Upstream> connection) override {
    dead_.push_back(std::move(connection));
  }
  void ready(Upstream& connection) override;
  void failed(Upstream& connection, const std::string& reason) override;
  void server_moved() override;
  void check_timeouts(TimePoint now) override;
  void wake_ready() override;
  void end_turn() override;
  bool owes_nothing() const override;
  void shrink() override;
  std::uint64_t memory_bytes() const override;
  // Another server has taken over. Ends what is in flight on the connections that no session holds,
  // and lets those who wait ask again where to go.
  void leave(const std::string& reason);
  // Nothing is in flight, and no session waits. It does not know of borrowed connections.
  bool is_unused() const;
  // Sessions that wait for a shared connection look again.
  void wake_waiting();
  // Some server has just accepted the login that this one has refused: it is asked again at once.
  void forget_refusals();

 private:
  // The shared connection of a protocol, and what it reveals about the server.
  struct Slot {
    std::unique_ptr<Upstream> connection;
    std::uint64_t contacts = 0;       // the server's at the start of the latest attempt
    std::string down;                 // which server and why, after a failed attempt
    std::uint64_t down_contacts = 0;  // `contacts` of that attempt
    TimePoint lost_at{};              // when it last broke; unset once it is back
    bool refused = false;             // the server refused the login; it may admit other users
    TimePoint tried_at{};             // start of the latest attempt
    bool failed_quickly = false;      // the latest failed attempt was short
    Nanos backoff{0};
    net::TimerId retry = 0;
    std::vector<std::uint64_t> waiting;  // sessions
  };

  bool is_away() const;
  bool holds_requests();
  Slot& slot_of(resp::Protocol protocol) {
    return slots_[protocol == resp::Protocol::kResp3 ? 1 : 0];
  }
  bool is_down(const Slot& slot) const;
  bool retries_now(Slot& slot, resp::Protocol protocol);
  void try_soon(Slot& slot, resp::Protocol protocol);
  void connect(resp::Protocol protocol);
  void shared_failed(Slot& slot, resp::Protocol protocol, const std::string& reason,
                     bool was_ready);
  void wake(Slot& slot);
  Nanos jitter(Nanos pause);

  ServersState& shared_;
  redis::UpstreamAddress& server_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Host& host_;
  std::array<Slot, 2> slots_;
  std::vector<std::unique_ptr<Upstream>> idle_;  // private connections without a client
  std::vector<std::unique_ptr<Upstream>> dead_;  // freed at the end of the turn
  std::uint64_t random_;
  TimePoint awaited_since_ = TimePoint::min();  // by the first request that found no server
  net::TimerId awaited_timer_ = 0;
  std::string withheld_;  // why requests do not wait any more, if no server may be used
};

// Whether `peer` (net::peer_text()) is one of the server's addresses.
bool is_at(std::string_view peer, const redis::UpstreamAddress& server);

}  // namespace heatsink::proxy
