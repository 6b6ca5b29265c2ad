// SPDX-License-Identifier: Apache-2.0
// What a session uses of the worker that it belongs to: its parts by reference, and a few calls.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/proxy/big_replies.h"
#include "heatsink/proxy/known_commands.h"
#include "heatsink/proxy/latencies.h"
#include "heatsink/proxy/reply_sizes.h"
#include "heatsink/proxy/upstreams.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

class Session;

// All outlive the session. By reference, so that a request costs no virtual call.
struct SessionParts : WorkerParts {
  Upstreams& upstreams;
  const KnownCommands& commands;
  const BigReplies& big_replies;
  Latencies& latencies;
  const ReplySizes* reply_sizes;  // null: nothing is judged by bytes

  // Of a read of the key, for the accesses that record() is told of; 0: not known.
  std::uint32_t last_reply_bytes(KeyHash key) const {
    return reply_sizes != nullptr ? reply_sizes->last(key) : 0;
  }
};

// The worker; a played one in tests. Its thread. None of these calls the session at once.
class SessionHost {
 public:
  // Calls Session::flush(), or resume(), before the turn ends. REQUIRES that it is not due already.
  virtual void flush_later(Session& session) = 0;
  virtual void resume_later(Session& session) = 0;
  // Calls `what` after this time, unless the session has gone by then.
  virtual void call_later(const Session& session, Nanos pause, void (Session::*what)()) = 0;
  // It is closed and has nothing in flight: frees it at the end of the turn.
  virtual void destroy_at_end_of_turn(Session& session) = 0;
  // proxy.maximum-memory is used up: closes the largest clients at the end of the turn.
  virtual void shed_later() = 0;

 protected:
  ~SessionHost() = default;
};

}  // namespace heatsink::proxy
