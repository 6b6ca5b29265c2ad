// SPDX-License-Identifier: Apache-2.0
// A client on its way from one worker to another: its connection, and what a server would know of
// it.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/client_state.h"
#include "heatsink/proxy/reply_guess.h"

namespace heatsink::proxy {

// What a session takes along. Nothing of the client's is in flight, kept, or half read.
struct MovedSession {
  std::uint64_t id;
  std::uint32_t address;  // its number in ClientNames, which it goes on to hold
  ClientState state;
  TimePoint last_reply_at;  // ClientTraffic::last_reply_at
  ReplyGuess reads, others;
};

struct MovedClient {
  net::Stream stream;  // in no loop
  MovedSession session;
};

}  // namespace heatsink::proxy
