// SPDX-License-Identifier: Apache-2.0
// Closes the clients of one worker while the proxy drains, as the schedule of drain.h says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/served_clients.h"
#include "heatsink/relief/drain.h"
#include "heatsink/relief/shared_state.h"

namespace heatsink::proxy {

// One per worker; its thread. Costs about 20 ns per client, a hundred times per second.
class ClientDrain {
 public:
  static constexpr Nanos kStepInterval = Millis(10);

  // All outlive it.
  ClientDrain(SharedState& shared, ServedClients& clients, net::EventLoop& loop,
              copies::Counters& counters)
      : shared_(shared), clients_(clients), loop_(loop), counters_(counters) {}
  ~ClientDrain() { loop_.cancel(timer_); }
  ClientDrain(const ClientDrain&) = delete;

  // One call. REQUIRES that the worker accepts no further clients. `limit` > 0. Counts down
  // SharedState::drain.workers_to_begin after its first step.
  void begin(Nanos limit);
  bool is_on() const { return drain_.has_value(); }

 private:
  void step();
  void step_of(ServedClients::Client& client, bool only_subscribers);

  SharedState& shared_;
  ServedClients& clients_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  net::TimerId timer_ = 0;
  std::optional<Drain> drain_;
  std::array<std::uint64_t, kStays> counted_{};  // as added to SharedState::drain
};

}  // namespace heatsink::proxy
