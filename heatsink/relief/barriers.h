// SPDX-License-Identifier: Apache-2.0
// Makes requests wait until the tracker has processed all earlier invalidations: HEATSINK BARRIER,
// and reads that need a new proof. Answers HEATSINK HELP, too; node_commands.h has HEATSINK NODE
// and NODES.
#pragma once

#include <cstdint>

#include "heatsink/net/net.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// The relief for barriers. One per session; one worker's thread.
class Barriers final : public Relief {
 public:
  static constexpr Millis kTimeout{5000};  // unless the client gives a timeout
  static constexpr Millis kTimeoutMax{60'000};

  // Both outlive it.
  Barriers(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}
  ~Barriers() { close(); }

  // Answers HEATSINK BARRIER and HELP. Inside MULTI, and for a RESP2 subscriber, it passes them on:
  // the server does not know the command and refuses it, so that the transaction fails.
  Outcome arrives(Request& request) {
    return request.command == nullptr ? look(request) : Outcome::kPass;
  }

  // Holds the request. When the chain looks at it again, Request::Waited::barrier is kPassed.
  Outcome await_tracker(Request& request);
  // The tracker has answered the question with this number.
  void passed(std::uint64_t ticket);

  void close();  // the client has left

 private:
  Outcome look(Request& request);
  Outcome run_barrier(Request& request);
  Outcome serve_help();
  void late(std::uint64_t ticket);
  void end_wait(std::uint64_t ticket, Request::Waited::Barrier how);
  Outcome answer(std::string_view reply);
  Outcome refuse(std::string_view text);
  Outcome drain();

  const WorkerParts& parts_;
  const ReliefContext& client_;
  std::uint64_t last_ticket_ = 0;
  net::TimerId timer_ = 0;  // for a waiting BARRIER
};

}  // namespace heatsink::proxy
