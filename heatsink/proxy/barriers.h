// SPDX-License-Identifier: Apache-2.0
// Waits until the tracker has processed all earlier invalidations: for HEATSINK BARRIER, the one
// command that only the proxy knows, and for reads that need a new proof.
#pragma once

#include <cstdint>

#include "heatsink/net/net.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// The relief of barriers. Of one session; one worker's thread.
class Barriers final : public Relief {
 public:
  static constexpr Millis kTimeout{5000};  // unless the client says another one
  static constexpr Millis kTimeoutMax{60'000};

  // Both outlive it.
  Barriers(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}
  ~Barriers() { close(); }

  // HEATSINK BARRIER and HELP. Inside MULTI, and for a subscriber in RESP2, it passes them on: the
  // server knows no such command, so it refuses, and the transaction fails.
  Outcome arrives(Request& request) {
    return request.command == nullptr ? look(request) : Outcome::kPass;
  }

  // Holds the request. When the chain looks at it again, Request::Waited::barrier is kPassed.
  Outcome await_tracker(Request& request);
  // The tracker has answered what was asked under this number.
  void passed(std::uint64_t ticket);

  void close();  // the client has left

 private:
  Outcome look(Request& request);
  Outcome run_barrier(Request& request);
  Outcome serve_help();
  void late(std::uint64_t ticket);
  void settle(std::uint64_t ticket, Request::Waited::Barrier how);
  Outcome answer(std::string_view reply);
  Outcome refuse(std::string_view text);
  Outcome drain();

  const WorkerParts& parts_;
  const ReliefContext& client_;
  std::uint64_t last_ticket_ = 0;
  net::TimerId timer_ = 0;  // of a BARRIER that waits
};

}  // namespace heatsink::proxy
