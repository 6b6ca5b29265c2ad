// SPDX-License-Identifier: Apache-2.0
// Sends again what a node of a cluster has refused on a client's own connection, where the
// connection's state or the wait of the command belongs to the request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/blocked_command.h"
#include "heatsink/session/transaction.h"
#include "heatsink/topology/redirect.h"

namespace heatsink::proxy {

// One per client of which a node has refused such a request; the worker's thread. The request
// becomes the client's waiting one again, as if it had never been sent: nothing follows it before
// its reply. It gives up after 200 refusals in a row.
class RefusedRequests {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual bool is_closing() const = 0;  // only earlier replies follow
    // Where the slot may have moved: with EXECABORT, an earlier error line says so.
    virtual std::string_view decisive(const Pending& pending, std::string_view line) const = 0;
    // "" or the reply instead, if the refusal ends the transaction; the second one if its slot has
    // moved.
    virtual std::string answer_to_refused(const Pending& pending, std::string_view line) const = 0;
    virtual std::string answer_to_moved(const Pending& pending) const = 0;
    virtual std::string wire_to_repeat(const Pending& pending) = 0;  // "": it cannot be sent again
    virtual redis::UpstreamAddress* node_named_by(const topology::Redirect& redirect) = 0;

    virtual void undo_sending(Pending& pending) = 0;  // as if it had never been sent
    // Instead: nothing has happened, and this is its reply.
    virtual void answer_instead(Pending& pending, std::string_view wire) = 0;
    // It waits with Awaited::kPause, until one of the next two.
    virtual void wait_with(std::unique_ptr<Request> request) = 0;
    virtual void look_at_end_of_turn() = 0;
    virtual void look_after(Nanos pause) = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  RefusedRequests(const WorkerParts& parts, Client& client) : parts_(parts), client_(client) {}
  RefusedRequests(const RefusedRequests&) = delete;

  static bool is_blocking(const Pending& pending) {
    return pending.of == BlockedCommand::of(BlockedCommand::Asked::kCommand);
  }
  static bool is_repeatable(const Pending& pending) {
    return is_blocking(pending) || pending.of == Transaction::of(Transaction::Asked::kWatch) ||
           pending.of == Transaction::of(Transaction::Asked::kExec);
  }

  // See ConnectionOwner::takes_back(). `line`: the error. REQUIRES is_repeatable().
  bool takes_back(Pending& pending, std::string_view line);
  // The last such request has its reply.
  void answered() { refusals_ = 0; }
  // Looks at the request again, at the end of this turn or after a pause. `to`: the node that
  // executes it; null: that of its slot. `asking`: after ASKING.
  void repeat(std::string&& wire, redis::UpstreamAddress* to, bool asking);

 private:
  bool answer(Pending& pending, std::string_view wire);

  const WorkerParts& parts_;
  Client& client_;
  std::uint8_t refusals_ = 0;  // in a row
};

}  // namespace heatsink::proxy
