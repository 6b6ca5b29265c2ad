// SPDX-License-Identifier: Apache-2.0
// One way to spare the server a request: a relief answers it, holds it, or passes it on.
// How to add one: docs/design/reliefs.md
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/copies/permission_cache.h"
#include "heatsink/proxy/client_state.h"
#include "heatsink/proxy/client_traffic.h"
#include "heatsink/proxy/reply_queue.h"
#include "heatsink/proxy/request.h"

namespace heatsink::proxy {

class Requester;

// What has become of a request that a relief has looked at.
enum class Outcome : std::uint8_t {
  kPass,      // it goes on: to the next relief, or to the server
  kAnswered,  // its reply is in the client's queue, or is promised (ReliefClient::sent)
  kWaits,     // the chain looks at it again, from the first relief on
};

// What each relief is: one object per client, a member of its ReliefChain, on the worker's thread.
// It has one or both of
//   Outcome arrives(Request&)  it is not known yet where the request goes: may answer
//   Outcome departs(Request&)  the request is about to be sent to a server: may refuse or gather
// and is asked about a request again each time that the request has waited.
//
// Only the address of this base is used: it tells which relief holds a request.
class Relief {
 public:
  Relief(const Relief&) = delete;

 protected:
  Relief() = default;
  ~Relief() = default;
};

// What a relief may do to the client whose request it looks at: a session, or a played one in
// tests. What it may see is in ClientState and ClientTraffic.
class ReliefClient {
 public:
  // ---- kAnswered

  // The whole reply, in wire form: the client gets it behind all that it is owed, or not at all
  // after CLIENT REPLY OFF. Copies the bytes. At most once per request.
  virtual void serve(std::string_view reply) = 0;

  // ---- kWaits

  // Until let_go(). Keeps the request's bytes; what is behind it is not looked at.
  virtual void hold(Request& request, const Relief& by) = 0;
  // The client's request, if this relief holds it. Null: it has been let go, or the client has
  // left.
  virtual Request* held_by(const Relief& relief) = 0;
  // The request is looked at again before this turn ends. No effect if `by` does not hold it.
  virtual void let_go(const Relief& by) = 0;
  // Until nothing of the client is in flight: what comes now must not overtake it.
  virtual void hold_until_drained() = 0;

  // ---- kAnswered, by a reply that comes later (`may_share next_reply sent`)

  // The request needs no connection of the client's own.
  virtual bool may_share() const = 0;
  // What the next request is to be answered by: a reply with this ticket, or none.
  struct NextReply {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    bool silent = false;
  };
  virtual NextReply next_reply() const = 0;
  // The relief sends the request, and it counts as in flight until requester() has had one
  // reply_done() or reply_lost() with the ticket of next_reply().
  virtual void sent(const Request& request) = 0;
  virtual Requester& requester() = 0;

  // ---- Beside all that

  // A command inside MULTI was refused here: the server must refuse EXEC. REQUIRES in_multi_.
  virtual void spoil_transaction() = 0;
  // Asks the server once more whether the user may do this, on the client's own connection if that
  // is free. The client is not shown the answer.
  virtual void renew_proof(const Request& request, const copies::Right& right) = 0;

 protected:
  ~ReliefClient() = default;
};

// The client that a relief belongs to. All outlive the relief.
struct ReliefContext {
  std::uint64_t id;
  std::uint32_t address;  // its number in ClientNames
  const ClientState& state;
  const ClientTraffic& traffic;
  ReliefClient& session;
};

}  // namespace heatsink::proxy
