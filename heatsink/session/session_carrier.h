// SPDX-License-Identifier: Apache-2.0
// Decides whether a client's session may go on in another process, and collects what goes along.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/relief/client_state.h"
#include "heatsink/session/blocked_command.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/session/client_input.h"
#include "heatsink/session/server_side.h"
#include "heatsink/session/subscriptions.h"
#include "heatsink/session/transaction.h"

namespace heatsink::proxy {

// Made for one question about one session, whose parts outlive it; the worker's thread. It changes
// nothing. That the session is at rest is for the session to say. The layouts: CarriedSession.
class SessionCarrier {
 public:
  // Null: the session has no such part. `is_raw`: it is a raw stream (MONITOR, SYNC).
  struct Parts {
    const ClientState& state;
    const ServerSide& servers;
    const ClientInput& input;
    const BlockedCommand* blocked;
    const Subscriptions* subscriptions;
    const Transaction* transaction;
    bool is_raw;
  };
  explicit SessionCarrier(const Parts& of) : of_(of) {}

  // A process that reads this layout cannot get the session before its client ends something.
  bool stays_behind(std::uint32_t layout) const;
  // It may get the session once that is at rest.
  bool may_carry(std::uint32_t layout) const;
  // The reply to EXEC decides about the client's subscriptions or protocol, command by command.
  bool needs_exec_reply() const;

  // `state`: the session's, out of which it is taken.
  CarriedSession carry(std::uint64_t id, ClientState&& state) const;
  // Of the connections to servers that go along: the client's own, if it has one, and those to
  // nodes.
  std::vector<int> descriptors() const;

 private:
  std::uint32_t layout_needed() const;
  bool is_too_long() const;
  bool needs_private() const;
  bool is_blocked() const { return of_.blocked != nullptr && of_.blocked->waits(); }
  bool has_listeners() const {
    return of_.subscriptions != nullptr && of_.subscriptions->has_listeners();
  }

  const Parts of_;
};

}  // namespace heatsink::proxy
