// SPDX-License-Identifier: Apache-2.0
// Runs a client's command that may wait on the server (BLPOP, XREAD BLOCK, WAIT), and cleans up
// when its client leaves. wait.h says why, and decides; this class sends, and gives back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/node_wait.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/session/step.h"
#include "heatsink/session/wait.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// One per client that has sent such a command; the worker's thread. The client sends at most one at
// a time, and nothing behind it: after its wait was ended for a client that has left, the server
// would execute that, too. Memory: the request, up to CarriedSession::kWaitingRequestMax, and a
// reply that is offered.
class BlockedCommand {
 public:
  // What it asks of the client's session. Implemented by Session.
  class Client {
   public:
    virtual Requester& requester() = 0;
    virtual bool has_cluster() const = 0;
    virtual std::shared_ptr<const topology::SlotMap> slot_map() const = 0;  // null: no cluster
    virtual bool is_drained() const = 0;                                    // nothing is in flight
    virtual bool has_state() const = 0;  // the client's own connection has state
    virtual bool is_bound() const = 0;   // the user's login is on that connection only

    // nullopt: the reliefs let the request pass.
    virtual std::optional<Step> departs(Request& request) = 0;
    // nullopt: the client's own connection is ready. Step::kDone: there is none, for the reason
    // Request::Waited::refusal.
    virtual std::optional<Step> own_connection_for(Request& request) = 0;
    virtual Step refuse_without_connection(Request& request) = 0;
    virtual Step send_on_own(Request& request, PartRequest of) = 0;
    virtual Step stall_for(Awaited why) = 0;
    virtual Step reply_error(std::string_view text) = 0;

    virtual Upstream* own_connection() = 0;  // that carries the command; null: none
    // A shared one to the same server, with the proxy's login; null: none is ready.
    virtual Upstream* connection_beside() = 0;
    virtual void lend_name() = 0;  // the connection has the client's name, until returned
    // A request of the proxy's own is in flight for this client.
    virtual void own_request_sent() = 0;

    enum class Presence : std::uint8_t {
      kHere,
      kEnded,  // it has ended its output: gone, or not
      kGone,
    };
    virtual Presence presence() const = 0;
    virtual bool has_ended_unread() const = 0;  // its end is in the socket, behind what was read
    virtual void note_ended() = 0;

    enum class Later : std::uint8_t { kEndOfWait, kOfferTaken };
    virtual void call_later(Nanos pause, Later what) = 0;
    virtual void look_at_end_of_turn() = 0;  // then calls end() if the client has left

    virtual void give_part(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
    virtual void give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
    // Sends this node of a cluster what is left of the request, whose reply keeps its place.
    virtual void ask_node(ReplyQueue::Ticket ticket, std::string&& request,
                          redis::UpstreamAddress& node) = 0;
    virtual bool closed() const = 0;
    virtual void close() = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  BlockedCommand(const WorkerParts& parts, const ClientState& state, Client& client)
      : parts_(parts), state_(state), client_(client) {}
  BlockedCommand(const BlockedCommand&) = delete;

  // A command that may wait, but WAIT. REQUIRES that none waits.
  Step run(Request& request);
  // WAIT and WAITAOF wait for the last command, or write, on their own connection: here the mark
  // before it (wait.h), or the proxy's own write. Without them they would not wait for this
  // client's writes on another connection. In front of a cluster WAIT asks each node that the
  // client has written to, one after the other, and its client gets one reply (node_wait.h).
  Step run_wait(Request& request);
  bool asks_nodes() const { return nodes_ != nullptr; }
  // Instead of run(): another process has sent the command.
  void go_on(const Request& request, const CarriedSession::Waiting& before);

  bool waits() const { return wait_ != nullptr; }
  // The command that waits. REQUIRES waits().
  const Wait& wait() const { return *wait_; }
  std::string request_for_time_left() const;  // the same
  CarriedSession::Waiting carried() const;    // the same
  // A reply is offered to a client that may have left: nothing else may reach it.
  bool is_offering() const { return offered_ != nullptr; }
  // What a client was given that has left is on its way back.
  bool is_putting_back() const { return putting_back_ > 0; }
  bool is_idle() const { return !waits() && !is_offering() && !is_putting_back(); }
  bool is_at_rest() const { return is_idle() && !asks_nodes() && !is_timed_out_; }  // it may go

  // The client has left, or the wait is_timed_out(). May be called again.
  void end();
  // The proxy drains, and ends the wait by itself, and that of all later commands.
  void end_as_timed_out() {
    is_timed_out_ = true;
    end();
  }
  bool is_timed_out() const { return is_timed_out_; }
  void pause_is_over();
  void offer_taken();
  void offer_refused();  // REQUIRES is_offering(). The client has certainly left
  // Forgets the command, whose reply is not this client's any more.
  void drop() { wait_.reset(); }
  void close() {
    wait_.reset();
    offered_.reset();
  }

  // The requests whose replies it takes.
  enum class Asked : std::uint8_t { kCommand, kMark, kUnblock, kPutBack };
  static constexpr PartRequest of(Asked what) { return {SessionPart::kBlocked, what}; }
  // See ConnectionOwner::keeps(), for kCommand.
  bool keeps_reply(TimePoint read_at, bool silent);
  // The reply has come. `kept`: its bytes, for kCommand only if keeps_reply(). True: what the
  // client still gets of it may go out; false: it is decided later, or the client has left.
  bool take(const Pending& pending, bool ok, std::string_view kept);
  // The reply will not come. False: nothing else is to be done for it.
  bool lost(const Pending& pending, const std::string& problem);

 private:
  struct Offered {
    std::unique_ptr<Wait> wait;
    ReplyQueue::Ticket ticket;
    std::string wire;  // the whole reply
  };

  Step send(Request& request);
  void begin(Upstream& connection, const Request& request);
  redis::UpstreamAddress* ask_nodes(const std::vector<redis::UpstreamAddress*>& nodes);
  void forget_nodes() { nodes_.reset(); }  // the command is over
  std::optional<Step> before_wait(Request& request);
  bool write_before_wait(Upstream& connection);
  bool is_refused_to_subscriber() const;
  Pending own_request(Asked what) const;
  bool settle(ReplyQueue::Ticket ticket, std::string_view kept);
  bool node_answered(ReplyQueue::Ticket ticket, std::string_view reply);
  void command_lost(const std::string& problem);
  void mark_answered(std::string_view hello);
  void unblock_answered(std::string_view reply);
  void put_back_answered(bool ok, std::string_view error);
  void act_on(Wait::Next next);
  bool unblock();
  void offer(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket, std::string_view wire);
  void put_back(std::span<const PutBack> requests);
  void not_put_back(std::string_view why);

  const WorkerParts& parts_;
  const ClientState& state_;
  Client& client_;
  std::unique_ptr<Wait> wait_;       // for a command in flight
  std::unique_ptr<NodeWait> nodes_;  // while WAIT asks several nodes
  std::unique_ptr<Offered> offered_;
  std::uint32_t putting_back_ = 0;  // put-back requests in flight
  bool is_timed_out_ = false;
};

}  // namespace heatsink::proxy
