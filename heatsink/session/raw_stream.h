// SPDX-License-Identifier: Apache-2.0
// Turns a client's own connection into a stream of the server's bytes: MONITOR, SYNC and PSYNC.
#pragma once

#include <optional>
#include <string_view>

#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// One per client that has sent such a command; the worker's thread. It changes
// ClientState::replicates_, which RESET clears when it ends the stream.
//
// MONITOR gets one reply and then streams; SYNC and PSYNC use the replication protocol from the
// first byte. From then on the server sends what it wants, when it wants.
class RawStream {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual bool is_drained() const = 0;  // nothing is in flight
    virtual Step stall_for(Awaited why) = 0;
    // nullopt: the client keeps its own connection from now on, which is ready for the request.
    virtual std::optional<Step> keep_connection(Request& request) = 0;
    virtual Step send_on_own(Request& request, PartRequest of) = 0;
    // What the client keeps in a cache of its own ends: a push cannot be told from what a stream
    // sends.
    virtual void end_near_cache() = 0;
    // As Upstream::relay_raw(). False: the client has no connection of its own.
    virtual bool relay(std::string_view request) = 0;
    virtual void send_rest(std::string_view bytes) = 0;  // to the stream, if it is there
    virtual Step reply_error(std::string_view text) = 0;
    virtual void close_when_flushed() = 0;

   protected:
    ~Client() = default;
  };

  RawStream(ClientState& state, Client& client) : state_(state), client_(client) {}  // outlive it
  RawStream(const RawStream&) = delete;

  Step begin(Request& request);  // MONITOR, SYNC and PSYNC
  void began(bool ok);           // the server has answered MONITOR
  // Another process has begun it.
  void go_on() { is_on_ = true; }

  bool is_on() const { return is_on_; }
  // A request inside the stream, but QUIT and RESET of a monitor. REQUIRES is_on().
  Step take(const Request& request);

 private:
  ClientState& state_;
  Client& client_;
  bool is_on_ = false;
};

}  // namespace heatsink::proxy
