// SPDX-License-Identifier: Apache-2.0
// Runs a client's command that may wait on the server (BLPOP, XREAD BLOCK, WAIT), and cleans up
// when its client leaves. wait.h says why, and decides; this class sends, and gives back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/session/wait.h"
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
    virtual bool is_timed_out() const = 0;      // the proxy drains, and ends the wait by itself
    virtual void note_ended() = 0;

    enum class Later : std::uint8_t { kEndOfWait, kOfferTaken };
    virtual void call_later(Nanos pause, Later what) = 0;
    virtual void look_at_end_of_turn() = 0;  // then calls end() if the client has left

    virtual void give_part(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
    virtual void give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) = 0;
    virtual bool closed() const = 0;
    virtual void close() = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  BlockedCommand(const WorkerParts& parts, const ClientState& state, Client& client)
      : parts_(parts), state_(state), client_(client) {}
  BlockedCommand(const BlockedCommand&) = delete;

  // Sends the mark before `request` (wait.h); then the session sends the request.
  void begin(Upstream& connection, const Request& request);
  // Instead: another process has sent both.
  void go_on(const Request& request, const CarriedSession::Waiting& before);

  bool waits() const { return wait_ != nullptr; }
  // The command that waits. REQUIRES waits().
  const Wait& wait() const { return *wait_; }
  // A reply is offered to a client that may have left: nothing else may reach it.
  bool is_offering() const { return offered_ != nullptr; }
  // What a client was given that has left is on its way back.
  bool is_putting_back() const { return putting_back_ > 0; }
  bool is_idle() const { return !waits() && !is_offering() && !is_putting_back(); }

  // The client has left, or the drain ends the wait. May be called again.
  void end();
  void pause_is_over();
  void offer_taken();
  void offer_refused();  // REQUIRES is_offering(). The client has certainly left
  // Forgets the command, whose reply is not this client's any more.
  void drop() { wait_.reset(); }
  void close() {
    wait_.reset();
    offered_.reset();
  }

  // See ConnectionOwner. `always`: the session needs the reply itself.
  bool keeps_reply(TimePoint read_at, bool silent, bool always);
  // The reply has come; `kept`: its bytes, if keeps_reply(). True: the client gets it now.
  bool settle(ReplyQueue::Ticket ticket, std::string_view kept);
  void lost(const std::string& problem);  // it will not come
  void mark_answered(std::string_view hello);
  void unblock_answered(std::string_view reply);
  void put_back_answered(bool ok, std::string_view error);

 private:
  struct Offered {
    std::unique_ptr<Wait> wait;
    ReplyQueue::Ticket ticket;
    std::string wire;  // the whole reply
  };

  Pending own_request(PendingKind kind) const;
  void act_on(Wait::Next next);
  bool unblock();
  void offer(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket, std::string_view wire);
  void put_back(std::span<const PutBack> requests);
  void not_put_back(std::string_view why);

  const WorkerParts& parts_;
  const ClientState& state_;
  Client& client_;
  std::unique_ptr<Wait> wait_;  // for a command in flight
  std::unique_ptr<Offered> offered_;
  std::uint32_t putting_back_ = 0;  // put-back requests in flight
};

}  // namespace heatsink::proxy
