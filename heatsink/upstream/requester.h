// SPDX-License-Identifier: Apache-2.0
// Defines a client as the upstream connections see it: the receiver of replies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/copies/effects.h"
#include "heatsink/resp/reply_scanner.h"

namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::proxy {

struct Pending;

// Implemented by Session and by what sends requests beside it: parts of a command, reliefs, the
// proxy's own requests. Upstream, Upstreams and Gathering use it. One worker's thread. It outlives
// its requests in flight: each request with a requester ends with exactly one reply_done() or
// reply_lost(). The holder of a private connection is more: connection_owner.h.
class Requester : public copies::HeldClient {
 public:
  // A part of the reply with this ticket.
  virtual void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
  // The whole reply has arrived. `kept`: its bytes, if the client does not get them directly; else
  // empty.
  virtual void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                          std::string_view kept) = 0;
  // The whole reply, not an error, to a request with Pending::is_usual has arrived, read before
  // `read_at`: take_reply(), note_reply_at(), note_reply_size() and reply_done() in one call. Sends
  // nothing on the connection.
  virtual void take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at);
  // The connection failed. `begun`: a part of the reply was handed on. `problem` names the server.
  virtual void reply_lost(Pending& pending, bool begun, const std::string& problem) = 0;
  // A reply or message was read before `at`. At Level::kSession, only copies proven since then may
  // follow it.
  virtual void note_reply_at(TimePoint /*at*/) {}
  virtual void note_reply_size(const Pending& /*pending*/, std::uint64_t /*bytes*/) {}

  // This node will execute the client's write, which another node has refused.
  virtual void note_written(redis::UpstreamAddress& /*node*/) {}

  // Whether the read-only command whose reply begins may be sent again. Not if the client sent a
  // later command that may change the value: the second reply would show that change.
  virtual bool may_ask_again(ReplyQueue::Ticket /*ticket*/) const { return false; }
  // The reply is too big for a shared connection: sends the read again on another one.
  virtual void ask_again(std::string_view /*request*/, const Pending& /*pending*/) {}
  virtual bool congested() const { return false; }  // its buffered replies are close to the limit

 protected:
  ~Requester() = default;
};

}  // namespace heatsink::proxy
