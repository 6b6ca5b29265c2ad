// SPDX-License-Identifier: Apache-2.0
// One request on an upstream connection whose reply has not come yet.
#pragma once

#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/copies/effects.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/proxy/reply_queue.h"

namespace heatsink::proxy {

class Requester;

enum class PendingKind : std::uint8_t {
  kForward,    // the reply is the client's
  kHandshake,  // ours; an error means that the connection is of no use
  kSelect,     // ours, before a client's command; an error is told to the session, if it waits
  kOwn,        // ours; the reply is dropped
  kSubscribe,  // the client's: `confirmations` elements, or one error
  kAuth,       // the client's AUTH, or HELLO: success changes who (and which protocol) it is
  kSelectDb,   // the client's SELECT: success changes its database to `number`
  kMulti,      // the client's MULTI: an error means that no transaction has begun
  kExec,       // the client's EXEC: success changes what it is subscribed to
  kMonitor,    // the client's MONITOR: after success the connection is raw
  kDebug,      // the client's SCRIPT DEBUG: success, if `number` is 1, gives its scripts to the
               // debugger
  kAgain,      // the client's read, asked again because its reply was too big to share
  kMark,       // ours, before a command that may wait: by its reply it is known to wait (wait.h)
  kWaiting,    // the client's command that may wait
  kUnblock,    // ours: ends the wait of a client that has left
  kPutBack,    // ours: returns what such a client was given
  kCoalesced,  // the write of several clients: Coalescing knows it by `number`
};

struct Pending : copies::Effects {
  Requester* session = nullptr;  // null: the client has gone, or the request is ours
  PendingKind kind = PendingKind::kForward;
  bool read_only = false;      // may be asked again
  bool silent = false;         // CLIENT REPLY OFF or SKIP: the reply is dropped
  bool tells = true;           // its reply may say something of a key
  std::uint32_t bytes = 0;     // of the request, kept in the output until the reply begins
  std::uint32_t number = 0;    // confirmations still to come; database of kSelect and kSelectDb
  std::uint32_t expected = 0;  // bytes of the reply, or a guess
  std::uint16_t sized_as = 0;  // CommandFacts::sized_as: how big its replies are is remembered
  ReplyQueue::Ticket ticket = ReplyQueue::kNone;  // of the client's reply
  std::uint64_t reply_of = 0;  // a ReadHash: the worker wants to know how long the reply is
  TimePoint sent_at{};         // when it was handed to its connection
  std::unique_ptr<copies::AskedRight> proves;  // if the reply is no error, its user may do this
};

}  // namespace heatsink::proxy
