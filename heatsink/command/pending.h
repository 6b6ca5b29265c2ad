// SPDX-License-Identifier: Apache-2.0
// Describes one request on an upstream connection whose reply has not arrived yet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/command/spread_verb.h"
#include "heatsink/copies/effects.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Requester;

enum class PendingKind : std::uint8_t {
  kForward,    // the reply goes to the client
  kHandshake,  // the proxy's; after an error the connection is useless
  kSelect,     // the proxy's, before a client's command; a waiting session gets the error
  kOwn,        // the proxy's; the reply is dropped
  kSubscribe,  // the client's: `number` confirmations, or one error
  kAuth,       // the client's AUTH or HELLO: success changes its user (and protocol)
  kSelectDb,   // the client's SELECT: success changes its database to `number`
  kMulti,      // the client's MULTI: an error means that no transaction has begun
  kExec,       // the client's EXEC: success may change its subscriptions
  kMonitor,    // the client's MONITOR: after success the connection is raw
  kAgain,      // the client's read, sent again because its reply was too big to share
  // The proxy's, before a command that may wait: its reply shows that the command waits (wait.h).
  kMark,
  kWaiting,  // the client's command that may wait
  kWatch,    // the client's WATCH, to a node of a cluster
  // A command of a transaction that the proxy has queued, or its MULTI: the reply is dropped.
  kQueued,
  kOwnWrite,   // the proxy's, before a client's WAIT, which gets the error if it is refused
  kUnblock,    // the proxy's: ends the wait of a client that has left
  kPutBack,    // the proxy's: puts back the elements that such a client was given
  kCoalesced,  // the write of several clients, known to Coalescing by `number`
};

// For a request that a node of a cluster may refuse, or has refused, because the slot is not its.
struct Rerouted {
  std::string request;  // empty while a shared connection keeps the bytes
  TimePoint since{};    // of the first refusal
  resp::Protocol protocol = resp::Protocol::kResp2;
  std::uint8_t redirects = 0;
  bool asked = false;   // the last node was asked after ASKING
  bool taught = false;  // the node has been given the script of this EVALSHA
};

struct Pending : copies::Effects {
  Requester* session = nullptr;  // null: the client has left, or the request is the proxy's
  PendingKind kind = PendingKind::kForward;
  bool read_only = false;      // the request may be sent again
  bool silent = false;         // after CLIENT REPLY OFF or SKIP: the reply is dropped
  bool rewritten = false;      // the session gets the whole reply at its end, and puts it out
  bool pins = false;           // it made the client keep its private connection
  bool is_unexecuted = false;  // no server has executed it, and none will
  bool reveals_keys = true;    // the reply may reveal something about a key
  // Its reply goes to the client as it is and changes nothing that the proxy knows of the client,
  // and it owns no memory: Requester::take_whole() may take the reply.
  bool is_usual = false;
  std::uint32_t bytes = 0;     // of the request; the output keeps them until the reply begins
  std::uint32_t number = 0;    // remaining confirmations; database of kSelect and kSelectDb
  std::uint32_t expected = 0;  // estimated bytes of the reply
  std::uint32_t db = 0;        // of the connection when it took the request
  std::uint16_t sized_as = 0;  // CommandFacts::sized_as, to record the size of the reply
  ReplyQueue::Ticket ticket = ReplyQueue::kNone;  // for the client's reply
  std::uint64_t reply_of = 0;  // a ReadHash: the worker records the length of the reply
  TimePoint sent_at{};         // when the connection took it
  std::unique_ptr<copies::AskedRight>
      asked_right;  // the right that the reply proves, if it is no error
  std::unique_ptr<Rerouted> rerouted;
  std::unique_ptr<SpreadKeysWritten> spread;  // keys with copies on nodes that it writes
};

}  // namespace heatsink::proxy
