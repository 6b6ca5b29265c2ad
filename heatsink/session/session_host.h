// SPDX-License-Identifier: Apache-2.0
// Defines what a session uses of its worker: parts by reference, and a few calls.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/command/known_commands.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/copies/client_commands.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/latencies.h"
#include "heatsink/upstream/big_replies.h"
#include "heatsink/upstream/upstreams.h"
#include "heatsink/upstream/user_servers.h"

namespace heatsink::proxy {

class NearTable;
class Session;

// References to parts that outlive the session. References instead of calls, so that a request
// costs no virtual call.
struct SessionParts : WorkerParts {
  Upstreams& upstreams;  // with the proxy's login
  UserServers& users;    // in front of a cluster: with those of other users
  const KnownCommands& commands;
  const BigReplies& big_replies;
  Latencies& latencies;
  copies::ClientCommands& client_commands;
  const ReplySizes* reply_sizes;  // null: no rule counts bytes
  // Scratch: of the request that a run of plain ones is at.
  std::vector<std::string_view>& run_args;
  NearTable* near_table = nullptr;  // null: clients track by the server

  // Size of the last reply to a read of the key, for record(); 0: unknown.
  std::uint32_t last_reply_bytes(KeyHash key) const {
    return reply_sizes != nullptr ? reply_sizes->last(key) : 0;
  }
};

// Implemented by the worker, and by tests. Called on the worker's thread. None of these calls calls
// the session back at once.
class SessionHost {
 public:
  // Calls Session::flush() or resume() before the turn ends. REQUIRES that the call is not already
  // due.
  virtual void flush_later(Session& session) = 0;
  virtual void resume_later(Session& session) = 0;
  // Calls Session::flush_slice() in this turn or in one of the next: a change of a name that many
  // clients keep is sent in slices, so that other requests do not wait for it.
  virtual void flush_in_slices(Session& session) = 0;
  // Calls Session::send_held() after a while (held_outputs.h).
  virtual void hold_output(Session& session) = 0;
  // Calls `what` after this time, unless the session is gone by then.
  virtual void call_later(const Session& session, Nanos pause, void (Session::*what)()) = 0;
  // The session is closed and has nothing in flight: frees it at the end of the turn.
  virtual void destroy_at_end_of_turn(Session& session) = 0;
  // proxy.maximum-memory is exhausted: closes the largest clients at the end of the turn.
  virtual void shed_later() = 0;

 protected:
  ~SessionHost() = default;
};

}  // namespace heatsink::proxy
