// SPDX-License-Identifier: Apache-2.0
// What a connection to the server sees of the client that a reply is for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/copies/effects.h"
#include "heatsink/proxy/reply_queue.h"
#include "heatsink/resp/reply_scanner.h"

namespace heatsink::proxy {

struct Pending;
class Upstream;

// A session, to Upstream, Upstreams and Gathering; a played one in tests. One worker's thread. It
// outlives what it has in flight: each request with a requester ends with exactly one reply_done()
// or reply_lost().
class Requester : public copies::HeldClient {
 public:
  // A part of the reply with this ticket.
  virtual void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
  // From its private connection; without a ticket it is a message, or a stream.
  virtual void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
  // The whole reply has come. `kept`: its bytes, of those that are not the client's to have; else
  // empty.
  virtual void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                          std::string_view kept) = 0;
  // `begun`: a part of it has been taken.
  virtual void reply_lost(Pending& pending, bool begun, const std::string& reason) = 0;
  // The server said something before `at`: no copy that is not proven since may follow it (at
  // Level::kSession).
  virtual void note_reply_at(TimePoint at) = 0;
  virtual void note_reply_size(const Pending& pending, std::uint64_t bytes) = 0;

  // A reply that is too big to share a connection: the read is asked again, on another.
  virtual void ask_again(std::string_view request, const Pending& pending) = 0;
  // Of the read-only command whose reply begins: no command behind it may change what it reads, and
  // asking once more would show the change.
  virtual bool may_ask_again(ReplyQueue::Ticket ticket) const = 0;
  virtual bool congested() const = 0;  // its waiting replies come near to the limit

  // Of the command that may wait, whose reply begins in what was read then: its client seems to
  // have left, so the reply is kept.
  virtual bool keeps_reply(TimePoint read_at, bool silent) = 0;
  virtual bool hears_messages() const = 0;    // they look like replies, in RESP2
  virtual bool needs_exec_reply() const = 0;  // it wants to see the reply to EXEC

  // Of its private connection.
  virtual void private_ready() = 0;
  virtual std::unique_ptr<Upstream> private_failed(const std::string& reason) = 0;
  virtual void go_on() = 0;  // it may have room again

 protected:
  ~Requester() = default;
};

}  // namespace heatsink::proxy
