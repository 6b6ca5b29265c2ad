// SPDX-License-Identifier: Apache-2.0
// Moves the clients of one worker to other workers, takes those of others in, and measures the load
// that decides it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/client_balancer.h"
#include "heatsink/proxy/served_clients.h"

namespace heatsink::proxy {

// One per worker; its thread. A client moves once nothing of it is in flight or waits.
class ClientMoves {
 public:
  // Clients that are not ready after this time stay.
  static constexpr Nanos kMoveTime = Millis(100);

  // All outlive it. `worker`: its index.
  ClientMoves(std::size_t worker, ServedClients& clients, net::EventLoop& loop,
              copies::Counters& counters)
      : worker_(worker), clients_(clients), loop_(loop), counters_(counters) {}
  ClientMoves(const ClientMoves&) = delete;

  // Before the threads start. Without a balancer clients stay here. `balancer` outlives them.
  void balance_by(ClientBalancer& balancer) { balancer_ = &balancer; }
  // The worker that new clients go to; `here`: without a balancer.
  BalancedWorker& home(BalancedWorker& here) const {
    return balancer_ != nullptr ? balancer_->home() : here;
  }
  // In a tick: tells the balancer how busy the thread was since the last one.
  void report_load(TimePoint now);

  // As BalancedWorker::give_clients(). Replaces a move that is under way.
  void begin(std::size_t count, BalancedWorker& to);
  // At the end of each turn: moves the clients that are ready by now.
  void end_turn() {
    if (leaving_.to != nullptr) move_ready();
  }
  void stop() { leaving_ = {}; }  // those that have not moved stay
  void stop_for_good() {          // also: new clients stay here
    balancer_ = nullptr;
    stop();
  }

  void take_in(MovedClient moved);
  void server_left() { server_left_at_ = loop_.now(); }

 private:
  void move_ready();
  bool try_to_move(std::uint64_t id);

  const std::size_t worker_;
  ServedClients& clients_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  ClientBalancer* balancer_ = nullptr;
  struct Leaving {
    std::vector<std::uint64_t> clients;
    BalancedWorker* to = nullptr;  // null: none
    TimePoint until{};
  } leaving_;
  struct Measured {
    TimePoint at;
    Nanos cpu;  // of this thread
  };
  std::optional<Measured> measured_;
  TimePoint server_left_at_{};
};

}  // namespace heatsink::proxy
