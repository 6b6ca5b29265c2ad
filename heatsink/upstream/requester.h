// SPDX-License-Identifier: Apache-2.0
// Defines a client as the upstream connections see it: the receiver of replies.
#pragma once

#include <cstdint>
#include <memory>
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
class Upstream;

// Implemented by Session; Upstream, Upstreams and Gathering use it, and tests implement another
// one. One worker's thread. It outlives its requests in flight: each request with a requester ends
// with exactly one reply_done() or reply_lost().
class Requester : public copies::HeldClient {
 public:
  // A part of the reply with this ticket.
  virtual void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
  // Bytes from the private connection. Without a ticket they are a message, or part of a stream.
  virtual void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
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
  virtual void note_reply_at(TimePoint at) = 0;
  virtual void note_reply_size(const Pending& pending, std::uint64_t bytes) = 0;
  // A node of a cluster has answered on the private connection with this error line, which no
  // client has seen. True: the requester sends the request again by itself, and `pending` has
  // ended. False: it is treated like any other.
  virtual bool takes_back(Pending& /*pending*/, std::string_view /*error*/) { return false; }

  // This node will execute the client's write, which another node has refused.
  virtual void note_written(redis::UpstreamAddress& /*node*/) {}

  // The reply is too big for a shared connection: sends the read again on another one.
  virtual void ask_again(std::string_view request, const Pending& pending) = 0;
  // Whether the read-only command whose reply begins may be sent again. Not if the client sent a
  // later command that may change the value: the second reply would show that change.
  virtual bool may_ask_again(ReplyQueue::Ticket ticket) const = 0;
  // The rest of its request follows.
  virtual bool is_streaming() const { return false; }
  virtual bool congested() const = 0;  // its buffered replies are close to the limit

  // Called when the reply to a command that may wait begins, in bytes read at `read_at`. True: the
  // client seems to have left, so the reply is kept.
  virtual bool keeps_reply(TimePoint read_at, bool silent) = 0;
  virtual bool receives_messages() const = 0;  // messages look like replies in RESP2
  virtual bool needs_exec_reply() const = 0;   // the session needs the bytes of the reply to EXEC

  // About its private connection.
  virtual void private_ready() = 0;
  virtual std::unique_ptr<Upstream> private_failed(const std::string& reason) = 0;
  virtual void room_available() = 0;  // there may be room for more requests

 protected:
  ~Requester() = default;
};

}  // namespace heatsink::proxy
