// SPDX-License-Identifier: Apache-2.0
// relief: the ways to spare the servers a request, in one order. This header defines a relief: it
// answers the request, holds it, or passes it on. How to add one: docs/design/reliefs.md
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/command/reply_queue.h"
#include "heatsink/command/request.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"

namespace heatsink::proxy {

class Requester;

// The decision of a relief about a request.
enum class Outcome : std::uint8_t {
  kPass,      // the request goes on, to the next relief or to the server
  kAnswered,  // its reply is queued for the client, or promised (ReliefClient::sent)
  kWaits,     // the chain looks at the request again later, from the first relief on
};

// One client's reads that a relief has sent elsewhere may be owed so many bytes of replies, as far
// as their lengths are known.
inline constexpr std::uint64_t kExpectedBytesMax = 1024 * 1024;
inline constexpr std::uint64_t kUnknownReplyBytes = 8 * 1024;  // a guess

// A relief is one object per client, a member of its ReliefChain, on the worker's thread. It has
// one or both of these functions, which are called again for a request each time it has waited:
//   Outcome arrives(Request&)  the route is not known yet; may answer
//   Outcome departs(Request&)  the request is about to be sent to a server; may refuse or gather
//
// Only the address of this base is used: it identifies the relief that holds a request.
class Relief {
 public:
  Relief(const Relief&) = delete;

 protected:
  Relief() = default;
  ~Relief() = default;
};

// The calls that a relief makes on the client whose request it looks at: a session, or a stand-in
// in tests. ClientState and ClientTraffic show what a relief may read.
class ReliefClient {
 public:
  // ---- kAnswered

  // Sends the whole reply, in wire form, after all earlier replies; drops it after CLIENT REPLY
  // OFF. Copies the bytes. At most once per request.
  virtual void serve(std::string_view reply) = 0;

  // ---- kWaits

  // Holds the request until let_go(), with a copy of its bytes. Later requests wait behind it.
  virtual void hold(Request& request, const Relief& by) = 0;
  // The client's request, if this relief holds it. Null: the request was let go, or the client has
  // left.
  virtual Request* held_by(const Relief& relief) = 0;
  // Makes the chain look at the request again before this turn ends. No effect if `by` does not
  // hold it.
  virtual void let_go(const Relief& by) = 0;
  // Holds the request until nothing of the client is in flight, so that it overtakes nothing.
  virtual void hold_until_drained() = 0;

  // ---- kAnswered, by a reply that comes later (`may_share next_reply sent`)

  // The request needs no private connection.
  virtual bool may_share() const = 0;
  // The ticket for the reply to the next request, and whether the client wants that reply.
  struct NextReply {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    bool silent = false;
  };
  virtual NextReply next_reply() const = 0;
  // The relief sends the request itself. The request counts as in flight until requester() gets one
  // reply_done() or reply_lost() with the ticket of next_reply().
  virtual void sent(const Request& request) = 0;
  virtual Requester& requester() = 0;
  // The bytes of the reply as far as earlier replies say; 0: not known.
  virtual std::uint64_t known_reply_bytes(const Request& request) const = 0;
  // The latest command of this client that may have changed a key. kNone: none so far.
  struct LatestEffect {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    bool is_unanswered = false;  // its reply, or one before it, has not ended
  };
  virtual LatestEffect latest_effect() const = 0;

  // ---- Beside all that

  // The relief refused a command inside MULTI: makes the server refuse EXEC. REQUIRES in_multi_.
  virtual void make_exec_fail() = 0;
  // Asks the server again whether the user may do this, on the client's private connection if that
  // is free. The client does not see the answer.
  virtual void renew_right(const Request& request, const copies::Right& right) = 0;

 protected:
  ~ReliefClient() = default;
};

// The client of a relief. Everything here outlives the relief.
struct ReliefContext {
  std::uint64_t id;
  std::uint32_t address;  // its number in ClientNames
  const ClientState& state;
  const ClientTraffic& traffic;
  ReliefClient& session;
};

}  // namespace heatsink::proxy
