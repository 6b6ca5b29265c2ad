// SPDX-License-Identifier: Apache-2.0
// Carries a client from one worker to another: its connection, and its session's state.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/session/expected_replies.h"

namespace heatsink::proxy {

// The state that moves with a session. Nothing of the client is in flight, buffered or half read.
struct MovedSession {
  std::uint64_t id;
  std::uint32_t address;  // its number in ClientNames, which it keeps
  ClientState state;
  TimePoint last_reply_at;  // ClientTraffic::last_reply_at
  ExpectedReplies replies_ahead;
};

struct MovedClient {
  net::Stream stream;  // registered in no loop
  MovedSession session;
};

}  // namespace heatsink::proxy
