// SPDX-License-Identifier: Apache-2.0
// Notes what a client's command touches and may change, before it is sent: which copies it may make
// stale, which keys it counts for, and which scripts it teaches the servers.
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/session/session_host.h"

namespace heatsink::proxy {

// Has no state: made for one command, at the cost of a few pointers, and no call of it is virtual.
// The worker's thread.
class CommandEffects {
 public:
  // All outlive it. `upstreams`: with the login of this client's user. `queued`: inside MULTI,
  // what EXEC will do; else null.
  CommandEffects(const SessionParts& parts, const ClientState& state, ClientTraffic& traffic,
                 Upstreams& upstreams, std::uint32_t address, Pending* queued)
      : parts_(parts),
        state_(state),
        traffic_(traffic),
        upstreams_(upstreams),
        address_(address),
        queued_(queued) {}

  // In `pending`; inside MULTI in `queued`, because the server runs the commands at EXEC. Also
  // records the accesses. Cost: for each key two hashes.
  void note_keys(const Request& request, Pending& pending) const;
  // Copies of the key on other nodes end when the reply has come (spread_write.h).
  void note_write(std::string_view key, NameHash name, Pending& pending) const;
  // Every node of a cluster must know the scripts that one server would know. With one server the
  // texts show which of them are harmless.
  void prepare_script(Upstream& connection, const Request& request) const;

 private:
  bool has_cluster() const { return upstreams_.map_version() != 0; }
  bool may_exchange(const Request& request) const;
  void record(const Request& request, const resp::KeyRef& ref, KeyHash hash) const;

  const SessionParts& parts_;
  const ClientState& state_;
  ClientTraffic& traffic_;
  Upstreams& upstreams_;
  const std::uint32_t address_;
  Pending* const queued_;
};

}  // namespace heatsink::proxy
