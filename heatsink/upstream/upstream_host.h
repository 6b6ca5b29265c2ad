// SPDX-License-Identifier: Apache-2.0
// Defines what a connection to a server tells its worker, and what it asks of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/copies/effects.h"

namespace heatsink::proxy {

class Upstream;
struct Pending;

// Implemented by the worker, and by tests. Called in the loop's thread.
class UpstreamHost {
 public:
  static constexpr std::size_t kScratchBytes = 64 * 1024;

  // The whole reply to a request.
  struct Answer {
    bool ok = false;
    bool from_shared = false;   // it came on a shared connection
    std::uint64_t bytes = 0;    // of the reply
    TimePoint read_at{};        // the reply had arrived by then
    std::string_view captured;  // the bytes of the reply, if they were captured
  };

  virtual char* scratch() = 0;  // kScratchBytes, for the time of a call
  // Calls flush_dirty() before the turn ends.
  virtual void flush_later(Upstream& upstream) = 0;
  virtual void ready(Upstream& upstream) = 0;
  // The connection owes nothing any more. The host may free it at the end of this turn.
  virtual void failed(Upstream& upstream, const std::string& reason) = 0;
  // The reply begins, or will never come. Called before any of it is handed on.
  virtual void settle(Pending& pending, TimePoint now, copies::Shown shown) = 0;
  // The reply has ended. Called before the requester hears of it.
  virtual void answered(const Pending& pending, const Answer& answer) = 0;
  // The server has refused the request with this error line. True: another server will execute
  // it, and `pending` has been taken. See Upstreams::reroute().
  virtual bool reroute(Upstream& from, Pending& pending, std::string_view request,
                       std::string_view error) = 0;
  // The combined write of several clients is lost.
  virtual void gathered_lost(std::uint32_t number, const std::string& reason) = 0;
  // The size of the reply, or a lower bound, as soon as it is known.
  virtual void note_reply_size(const Pending& pending, std::uint64_t bytes) = 0;
  // The server refused a write, because it is a replica.
  virtual void writes_refused() {}

 protected:
  ~UpstreamHost() = default;
};

}  // namespace heatsink::proxy
