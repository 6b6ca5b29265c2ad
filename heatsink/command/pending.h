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

// The use that the connection has for the reply.
enum class PendingKind : std::uint8_t {
  kForward,    // the client's: the reply goes to the client
  kSubscribe,  // the same, for `number` confirmations, or one error
  kOwn,        // the proxy's: the reply goes to Pending::of, or is dropped if that names no part
  kSelect,     // the proxy's, before a client's command; a waiting session gets the error
  kHandshake,  // the proxy's; after an error the connection is useless
  kGathered,   // the write of several clients, known to WriteGatherer by `number`
};

// The part of a client's session that takes the result of a request.
enum class SessionPart : std::uint8_t {
  kNone,
  kDatabase,  // the client's SELECT: success changes its database to Pending::number
  kIdentity,  // the client's AUTH or HELLO: success changes its user (and protocol)
  kTransaction,
  kSubscriptions,
  kRawStream,  // the client's MONITOR: after success the connection is raw
  kAgain,      // the client's read, sent again because its reply was too big to share
  kBlocked,    // the client's command that may wait, and what the proxy sends for it
  kOwnWrite,   // the proxy's write before a client's WAIT, which gets the error if it is refused
};

// A request as the part knows it: by the part, and the part's own number for it.
struct PartRequest {
  constexpr PartRequest() = default;
  constexpr explicit PartRequest(SessionPart part_of) : part(part_of) {}
  template <class What>  // an enum of the part
  constexpr PartRequest(SessionPart part_of, What of_part)
      : part(part_of), what(static_cast<std::uint8_t>(of_part)) {}

  friend bool operator==(const PartRequest&, const PartRequest&) = default;

  SessionPart part = SessionPart::kNone;
  std::uint8_t what = 0;
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
  PartRequest of;
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
  std::uint32_t number = 0;    // remaining confirmations; database of a SELECT
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

  bool is_dropped() const { return kind == PendingKind::kOwn && of.part == SessionPart::kNone; }
};

}  // namespace heatsink::proxy
