// SPDX-License-Identifier: Apache-2.0
// Gives the sessions of a worker connections to the servers, however many servers there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/proxy/destination.h"
#include "heatsink/proxy/upstream.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Requester;

// Of one worker, and its thread's. A session asks for the connection of each request anew: which
// server has it is known here alone. SingleServer is the only one yet.
class Upstreams {
 public:
  virtual ~Upstreams() = default;

  // The connection that many sessions use, to the server that `to` names. Ready: `connection`.
  // Else, if `down` is null it is being opened, and await_shared() wakes the session; if not, it
  // says why commands cannot be carried now. Valid until the worker's next turn.
  struct Shared {
    Upstream* connection = nullptr;
    const std::string* down = nullptr;
  };
  virtual Shared shared(resp::Protocol protocol, const Destination& to) = 0;
  // Session::shared_settled() is called once it is ready and takes more, or is known to be down.
  virtual void await_shared(resp::Protocol protocol, const Destination& to,
                            const Requester& session) = 0;
  // One to the same server as this one, ready now, for a command that needs no client's state.
  // Null: there is none.
  virtual Upstream* shared_beside(const Upstream& connection) = 0;
  // Why the server cannot be reached, if that is known; else null.
  virtual const std::string* known_down(const Destination& to) = 0;

  // A connection for this session alone, ready (from the pool) or about to be: then
  // Session::private_ready() or private_failed() is called. Null: proxy.maximum-private-connections
  // is reached; a few more are kept for what is `urgent`.
  struct Need {
    resp::Protocol protocol = resp::Protocol::kResp2;
    Upstream::Login login = Upstream::Login::kOwn;
    std::uint32_t db = 0;  // one that is there already is preferred
    bool urgent = false;
  };
  virtual std::unique_ptr<Upstream> borrow(Requester& session, const Destination& to,
                                           const Need& need) = 0;
  virtual void give_back(std::unique_ptr<Upstream> connection, bool clean) = 0;

  // Told by a connection of its own.
  virtual void ready(Upstream& connection) = 0;
  virtual void failed(Upstream& connection, const std::string& reason) = 0;

  // For the worker.
  virtual void check_timeouts(TimePoint now) = 0;
  virtual void wake_ready() = 0;          // whoever waits for what has become free
  virtual void end_turn() = 0;            // frees connections that have failed
  virtual bool owes_nothing() const = 0;  // on shared connections
  virtual void shrink() = 0;              // buffers, when the worker rests
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace heatsink::proxy
