// SPDX-License-Identifier: Apache-2.0
// Executes a client's commands in parts on several nodes of a cluster: commands for all nodes, keys
// of several slots, SCAN, and counters in parts (spread.parts).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/command/fan_out.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/command/scan_cursor.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/step.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/destination.h"
#include "heatsink/upstream/scatter.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One per client that has sent such a command; the worker's thread. It outlives its scatters in
// flight, as the session outlives its requests. Memory: the replies to the parts, until the last
// has come; at most proxy.client-output-limit each (scatter.h).
class ScatteredCommands final : private Scatter::Owner {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual Requester& requester() = 0;
    virtual Upstreams& upstreams() = 0;         // with the login of this client's user
    virtual Upstreams& proxys_upstreams() = 0;  // with the proxy's login

    // nullopt: nothing keeps a command from being sent in parts on shared connections.
    virtual std::optional<Step> before_parts(Request& request) = 0;
    // The shared connection to the server that `to` names, in the client's database. Null: none is
    // ready, and `step` says whether the request waits, or was answered with an error.
    virtual Upstream* shared_at(const Destination& to, Request& request, Step& step) = 0;
    // Earlier requests still wait for their replies.
    virtual bool is_owed_replies() const = 0;
    virtual Step forward_whole(Request& request) = 0;
    virtual Step stall_for(Awaited why) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    // The same, and an EXEC that follows fails.
    virtual Step refuse_in_any_state(std::string&& text) = 0;

    // The place of the joined reply behind all earlier ones. `noted` gets the effects of the
    // command.
    struct Joined {
      ReplyQueue::Ticket ticket = ReplyQueue::kNone;
      bool silent = false;
    };
    virtual Joined expect_joined(const Request& request, Pending& noted) = 0;
    virtual void note_write(std::string_view key, NameHash name, Pending& pending) = 0;
    // A request of the proxy's own is in flight for this client: a scatter, until parts_ended().
    virtual void own_request_sent() = 0;
    // All parts of the command are on their way.
    virtual void parts_sent() = 0;
    // The replies to all parts have come, or never will. Calls finish(), unless the client has
    // left.
    virtual void parts_ended(Scatter& scatter) = 0;
    // A part is lost. True: the client's connection ends instead of an error (upstream.on-down).
    virtual bool closes_for_loss() = 0;
    // The rest of the reply, or all of it; "": the client gets none.
    virtual void give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  ScatteredCommands(const WorkerParts& parts, const ClientState& state, Client& client)
      : parts_(parts), state_(state), client_(client) {}
  ScatteredCommands(const ScatteredCommands&) = delete;

  // The command needs several nodes, or all. REQUIRES a command with the right arity, and a
  // cluster.
  static bool needs(const Request& request);
  Step run(Request& request);  // REQUIRES needs()

  // The number of parts of the counter that the command names; 0: it names none. For any command.
  static std::size_t parts_of_counter(const Request& request, std::uint32_t db,
                                      const WorkerParts& parts);
  Step run_counter(Request& request, std::size_t parts);  // REQUIRES parts > 0

  // See Client::parts_ended().
  void finish(Scatter& scatter);
  // Frees those that have ended. Not from within their calls.
  void free_ended() { ended_.clear(); }
  std::size_t bytes() const;

 private:
  struct Scan {
    ScanCursor cursor;
    std::shared_ptr<const topology::SlotMap> map;
    std::string wire = {};                        // the node's reply
    std::vector<topology::NodeIndex> asked = {};  // at the end of a pass
  };

  Step scatter(Request& request);
  Step scan(Request& request);
  std::string scan_reply(std::string_view cursor) const;
  std::optional<std::string> next_scan_cursor() const;
  bool asks_for_moves(Scatter& scan);
  ScanCursor::Moves moves_told(const Scatter& check);
  Scatter& begin(const FanOutRow& row, Client::Joined reply, std::vector<ScatterPart>&& parts);
  Step send(Request& request, const FanOutRow& row, std::vector<ScatterPart>&& parts,
            const std::vector<Destination>& destinations);
  Pending part_of(const Request& request, const Pending& noted, Scatter& scatter, std::size_t part);
  void scatter_ended(Scatter& scatter) override;

  const WorkerParts& parts_;
  const ClientState& state_;
  Client& client_;
  std::vector<std::unique_ptr<Scatter>> scatters_;  // in flight
  std::vector<std::unique_ptr<Scatter>> ended_;     // one of them may be on the call stack
  Scan scan_;                                       // of the SCAN in flight
};

}  // namespace heatsink::proxy
