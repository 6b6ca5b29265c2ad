// SPDX-License-Identifier: Apache-2.0
// Runs a client's WATCH and MULTI .. EXEC: on one server, or queued by the proxy in front of a
// cluster (queued_transaction.h), or as a transaction that failed before it reached the server.
//
// Clients send MULTI, the commands and EXEC in one write. So when the proxy has no connection for
// them, it answers MULTI as a busy server does (+OK), each command with the reason, and EXEC with
// EXECABORT. Nothing is executed, and the client sees what it sees when a server refuses to queue
// commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/command/pending.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/queued_transaction.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// One per client that has sent such a command; the worker's thread. It alone changes
// ClientState::in_multi_, watching_, watch_refused_ (and RESET) and transaction_failed_. While one
// of them is set, it exists; a refused WATCH needs it only for the next MULTI or UNWATCH. Memory:
// the keys of the queued commands, at most proxy.client-output-limit bytes of commands.
//
// The next transaction of a client may begin before the reply to EXEC comes, which ends with
// take() or lost().
class Transaction {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual bool has_cluster() const = 0;
    virtual bool is_drained() const = 0;  // nothing is in flight
    virtual bool is_closing() const = 0;  // upstream.on-down: only earlier replies follow
    virtual bool has_state() const = 0;   // the client's own connection has state

    virtual Step stall_for(Awaited why) = 0;
    virtual Step reply(std::string_view wire) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    // nullopt: the reliefs let the request pass.
    virtual std::optional<Step> departs(Request& request) = 0;

    // nullopt: the client's own connection is ready. Step::kDone: there is none, for the reason
    // Request::Waited::refusal.
    virtual std::optional<Step> own_connection_for(Request& request) = 0;
    virtual Step refuse_without_connection(Request& request) = 0;
    virtual Step send_on_own(Request& request, PartRequest of) = 0;
    virtual Forwarded forward_on_own(Request& request, PartRequest of) = 0;
    virtual Step forward_whole(Request& request) = 0;  // on any connection
    // Requests of the proxy's own, on the client's own connection, if it has one. The reply goes to
    // the part, or is dropped.
    virtual void send_for_part(std::string_view wire, PartRequest of) = 0;
    virtual void tell_server(std::initializer_list<std::string_view> args) = 0;

    // Inside MULTI the effects of a queued command go to effects(), and not to `noted`.
    virtual void note_keys(const Request& request, Pending& noted) = 0;
    virtual void keep_own_connection() = 0;
    virtual bool note_library(const Request& request) = 0;  // false: the server will refuse it
    virtual void introduce_if_owed() = 0;
    virtual void change_protocol(resp::Protocol protocol) = 0;
    virtual void queue_subscription(const Request& request, std::size_t index) = 0;
    virtual void drop_queued_subscriptions() = 0;
    // As Subscriptions::executed().
    virtual void subscriptions_executed(const resp::Value* elements) = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  Transaction(const WorkerParts& parts, ClientState& state, Client& client)
      : parts_(parts), state_(state), client_(client) {}
  Transaction(const Transaction&) = delete;

  // Outside MULTI. REQUIRES a command with the right arity, but for MULTI.
  Step multi(Request& request);
  Step watch(Request& request);
  Step unwatch(Request& request);
  // A command inside MULTI, EXEC and DISCARD, but none that ends the client's connection.
  Step run(Request& request);
  // Answers the command with an error, and an EXEC that follows fails. REQUIRES is_queued_here().
  Step refuse_to_queue(std::string&& why);

  // The requests whose replies it takes.
  enum class Asked : std::uint8_t {
    kWatch,   // to a node of a cluster
    kMulti,   // an error means that no transaction has begun
    kQueued,  // a command that the proxy has queued, or its MULTI
    kExec,    // success may change the client's subscriptions
  };
  static constexpr PartRequest of(Asked what) { return {SessionPart::kTransaction, what}; }
  // Whether `kept` of take() has to be the reply to EXEC.
  bool needs_exec_reply() const { return hello_.has_value(); }
  void take(const Pending& pending, bool ok, const resp::ReplyScanner& reply,
            std::string_view kept);
  void lost(const Pending& pending);

  // A node of a cluster has refused kQueued, kExec or kWatch with this error line.
  void queued_refused(std::string_view line);
  // Where it may have moved: with EXECABORT, why the node has refused to queue a command says so.
  std::string_view decisive(const Pending& pending, std::string_view line) const;
  // "" or the reply to EXEC, of which the server has refused a command.
  std::string answer_to_refused(const Pending& pending, std::string_view line) const;
  // "" or the reply to EXEC that has watched keys of a slot that has moved.
  std::string answer_to_moved(const Pending& pending) const;
  std::string wire_to_repeat(const Pending& pending);  // "": it cannot be sent again
  void undo_sending(Pending& pending);                 // as if it had never been sent

  // Of the queued commands, until EXEC is sent.
  Pending& effects() { return effects_; }
  void move_effects_to(Pending& exec) { move_effects(effects_, exec); }
  void count_queued() { ++queued_; }
  // EXEC executes nothing, and says so. REQUIRES is_queued_here().
  void fail_queue() { queue_->failed = true; }
  // The proxy queues the commands. `slot`: where they go.
  bool is_queued_here() const { return queue_.has_value(); }
  std::optional<std::uint16_t> slot() const { return queue_ ? queue_->slot : std::nullopt; }
  // The server has begun the transaction. REQUIRES in_multi_.
  bool is_on_server() const { return !state_.transaction_failed() && !is_queued_here(); }
  const std::string& refusal() const { return refusal_; }

  // Nothing is in flight: it may go.
  bool is_at_rest() const { return !state_.in_multi_ && !state_.watching_ && !queue_ && !hello_; }
  std::size_t bytes() const;
  void reset();

  // To and from another process (docs/design/handover.md).
  bool needs_second_layout() const { return is_queued_here() || state_.transaction_failed(); }
  bool is_too_long_to_carry() const;
  CarriedTransaction carried() const;
  // Then note_keys() for each command that it has queued.
  void take_over(const CarriedTransaction& before);
  void take_queue(const QueuedTransaction& queue) { queue_ = queue; }
  const std::vector<std::string>& queued_requests() const { return queue_->requests; }

 private:
  // A HELLO inside MULTI: EXEC changes the protocol, unless the server refuses the HELLO.
  struct QueuedHello {
    resp::Protocol protocol;
    std::size_t index;  // its element in the reply to EXEC
  };

  static void move_effects(Pending& from, Pending& to);
  Step begin_failed(std::string&& why);
  Step end_on_server(Request& request);
  Step run_failed(Request& request);
  void note_change_of_connection(const Request& request);
  void queue_hello(const Request& request);
  void executed(bool ok, const resp::ReplyScanner& reply, std::string_view wire);
  void forget();

  Step begin_queue(Request& request);
  Step queue(Request& request);
  std::string why_not_queued(const Request& request);
  void note_queued(const Request& request);
  Step execute_queue(Request& request);
  Step discard_queue();
  bool takes_slot(const Request& request);
  void drop_queue();

  const WorkerParts& parts_;
  ClientState& state_;
  Client& client_;
  bool names_ = false;  // contains CLIENT SETNAME
  // Why the transaction never reached the server; each of its commands is answered with this error.
  std::string refusal_;
  std::size_t queued_ = 0;            // queued commands: the elements of the reply to EXEC
  std::optional<QueuedHello> hello_;  // the last HELLO
  Pending effects_;
  // In front of a cluster:
  std::optional<QueuedTransaction> queue_;  // from MULTI until EXEC is answered
  std::optional<std::uint16_t> watched_slot_;
  std::string watch_in_flight_;  // that can be sent again; "": none
};

}  // namespace heatsink::proxy
