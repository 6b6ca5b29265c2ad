// SPDX-License-Identifier: Apache-2.0
// Runs the commands that are about the session itself, and handles replies: their order, and the
// state that they change.
#include "heatsink/session/session.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/command/ascii.h"
#include "heatsink/command/failure_text.h"
#include "heatsink/session/presented_cluster.h"

namespace heatsink::proxy {
namespace {

// The client did not send this request.
bool sent_unasked(PendingKind kind) {
  return kind == PendingKind::kSelect || kind == PendingKind::kOwn;
}

// The text of an error reply, without '-' and the end of the line.
std::string_view error_text(std::string_view wire) {
  return wire.substr(std::min<std::size_t>(1, wire.size()))
      .substr(0, wire.find_first_of("\r\n") - 1);
}

}  // namespace

// The debugger speaks its own protocol on the client's connection until the server closes it. A
// client that goes on with EVAL would run its script for real: so the connection ends.
Step Session::run_script_debug(const Request& request) {
  const std::string_view mode = request.args().size() == 3 ? request.args()[2] : std::string_view();
  if (equals_ignoring_case(mode, "no")) return reply("+OK\r\n");
  if (!equals_ignoring_case(mode, "yes") && !equals_ignoring_case(mode, "sync"))
    return reply_error("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  reply_error(
      "ERR heatsink: the script debugger needs a connection to the server itself: give redis-cli "
      "--ldb the address of the server");
  close_when_flushed();
  return Step::kDone;
}

Step Session::run_reset() {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  note_reply_at(parts_.loop.clock());  // a MONITOR stream may have shown values
  servers_.give_back(false);
  if (subscriptions_ != nullptr) subscriptions_->close();
  subscriptions_.reset();
  protocol_ = resp::Protocol::kResp2;
  raw_.reset();
  replicates_ = false;
  db_ = 0;
  name_.clear();
  no_local_reads_ = reply_off_ = false;  // keeps SKIP, which drops this reply
  name_owed_ = false;
  if (transaction_ != nullptr) transaction_->reset();
  watch_refused_ = false;
  transaction_.reset();
  near_.reset();
  near_mode_ = {};
  traffic_.forget();
  subscribed_ = false;
  identity().become_fresh();
  return reply("+RESET\r\n");
}

Step Session::run_quit() {
  if (in_flight() > 0 && !is_raw()) return stall(Awaited::kDrain);
  reply("+OK\r\n");
  close_when_flushed();
  return Step::kDone;
}

// The commands change nothing: neither the connection nor the server hears of them.
Step Session::run_presented(Request& request) {
  if (!in_multi_) return reply(reply_as_cluster(request, parts_, protocol_, client_.local_text()));
  make_exec_fail();
  return reply_error(
      "ERR heatsink: CLUSTER, READONLY, READWRITE and ASKING are not supported "
      "inside MULTI while the proxy presents itself as a cluster; send them "
      "before MULTI");
}

void Session::put_rewritten(const Pending& pending, std::string_view reply) {
  if (pending.silent) return;
  output_.put(pending.ticket, as_in_cluster(reply));
}

// ---- connections

Step Session::stall(Awaited why) {
  input_.stall(why);
  return Step::kStall;
}

// The result of a request without a connection: it waits, or gets its error.
Step Session::no_connection(Request& request, Step step) {
  if (step == Step::kStall) return step;
  if (!is_closing()) parts_.count(copies::Count::kUnservedCommands);  // reply_error() counts it
  return reply_error(request.waited().refusal);
}

// The request has not been sent, and waits for a server that is away.
bool Session::awaits_server() const {
  const Request* const waiting = input_.waiting();
  return input_.awaited() == Awaited::kShared && waiting != nullptr && waiting->has_waited() &&
         waiting->waited_for().awaits_server;
}

// The server must not execute a transaction without one of its commands. An unknown command makes
// it answer EXEC as after any command that it refused to queue.
void Session::make_exec_fail() {
  if (is_queueing()) return transaction_->fail_queue();
  own()->send_own({"HEATSINK", "LIMITED"});
}

void Session::private_ready() {
  if (repeats()) return repeated_->go_on();
  if (input_.awaited() == Awaited::kPrivate) resume_later();
}

// Before the connection was ready, only the waiting command is affected. Later the client has lost
// state that it relies on, so the proxy closes the client, as the server would.
std::unique_ptr<Upstream> Session::private_failed(const std::string& reason) {
  const bool state_lost = has_state();
  std::unique_ptr<Upstream> failed = servers_.lose();
  login_asked_.reset();
  if (closed()) return failed;
  if (input_.awaited() == Awaited::kPrivate) {
    input_.waiting()->waited().connection_error = failed->server().unreachable(reason);
    input_.waiting()->waited().is_login_refused = failed->refused();
    resume_later();
  } else if (repeats()) {
    repeated_->failed(reason, !failed->refused());
    repeated_->go_on();
  } else if (state_lost) {
    log_limited(LogLevel::kWarning, "state lost",
                "a client was disconnected because its private connection to upstream " +
                    failed->server().where() + " failed: " + reason +
                    "; it can connect again: if this line comes back, look at the server",
                parts_.loop.now());
    close_when_flushed();
  } else {
    after_reply();
  }
  return failed;
}

// Client libraries remember per connection which scripts the server has, and send EVALSHA for them;
// some cannot retry within MULTI. A restarted server has no scripts.
void Session::server_left() {
  if (ran_script_at_ == TimePoint{} || closed()) return;
  log_limited(LogLevel::kWarning, "scripts lost",
              "a client that has run scripts was disconnected, because upstream " +
                  parts_.shared.upstream_address.where() +
                  " may have lost them: a client loads its scripts again when it connects",
              parts_.loop.now());
  close_when_flushed();
}

void Session::shared_decided() {
  if (input_.awaited() == Awaited::kShared) resume_later();
}

void Session::release_hold() {
  if (closed() || traffic_.holds == 0 || --traffic_.holds > 0) return;
  output_.flush_later();
  if (input_.is_throttled()) resume_later();
}

bool Session::closes_when_down() const {
  return parts_.shared.options().on_down == policy::OnDown::kClose;
}

bool Session::is_too_long_to_share(const Request& request) const {
  return ExpectedReplies::is_too_long_to_share(request,
                                               parts_.shared.options().stream_threshold.count,
                                               [&] { return servers_.shared_for(request); });
}

// ---- replies

void Session::take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (!closed()) within_memory([&] { output_.put(ticket, bytes); });
}

void Session::take_private(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (closed()) return;
  if (is_raw() && reply_off_) return;  // CLIENT REPLY OFF also drops a stream
  if (subscriptions_ != nullptr && subscriptions_->hot().recounts())
    bytes = subscriptions_->hot().recount(bytes);
  within_memory([&] {
    ticket == ReplyQueue::kNone ? output_.append(bytes) : output_.put(ticket, bytes);
    close_if_output_full();
  });
}

// The proxy cannot hold back a server's messages without losing them, so it closes a client with
// too much unread output. Replies can be held back or sent again; a reply that allows neither is
// not dropped for its size.
void Session::close_if_output_full() {
  if (closed() || !output_.is_full()) return;
  parts_.count(copies::Count::kClientsCutOff);
  close();
}

void Session::give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (!bytes.empty()) output_.put(ticket, bytes);
  output_.end(ticket);
  after_reply();
}

void Session::serve(std::string_view wire) {
  parts_.count(copies::Count::kCommands);
  if (!take_silence()) output_.add(wire);
}

Step Session::reply(std::string_view wire) {
  parts_.count(copies::Count::kCommands);
  if (!take_silence()) output_.add(wire);
  return Step::kDone;
}

Step Session::reply_error(std::string_view text) {
  if (is_closing()) return Step::kDone;  // upstream.on-down: close: only earlier replies follow
  ByteBuffer wire;
  resp::append_error(wire, text);
  return reply(wire.view());
}

void Session::reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                         std::string_view kept) {
  if (!request_ended(pending.expected)) return;
  within_memory([&] {
    if (!settle_state(pending, ok, reply, kept)) return;
    if (pending.rewritten) put_rewritten(pending, kept);
    output_.end(pending.ticket);
    after_reply();
  });
}

void Session::take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at) {
  if (pending.reveals_keys) note_reply_at(read_at);
  if (pending.sized_as != 0) note_reply_size(pending, bytes.size());
  if (!request_ended(pending.expected)) return;
  within_memory([&] {
    output_.put_whole(pending.ticket, bytes);
    after_reply();
  });
}

void Session::select_refused(std::string_view why) {
  if (own() != nullptr) own()->set_db(Upstream::kUnknownDb);
  if (repeats()) {
    repeated_->failed(why, false);
  } else if (input_.waiting() != nullptr) {
    input_.waiting()->waited().db_error = why;
  }
}

// False: the client's reply is decided later, or the client has left.
bool Session::settle_state(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                           std::string_view kept) {
  if (refused_ != nullptr && RefusedRequests::is_repeatable(pending)) refused_->answered();
  switch (pending.of.part) {
    case SessionPart::kNone:
      if (pending.kind == PendingKind::kSelect && !ok) select_refused(error_text(kept));
      break;
    case SessionPart::kDatabase:
      identity().selected(pending, ok);
      break;
    case SessionPart::kIdentity:
      identity().authenticated(pending, ok);
      break;
    case SessionPart::kSubscriptions:
      subscriptions_->confirmed(ok);
      break;
    case SessionPart::kTransaction:
      transaction_->take(pending, ok, reply, kept);
      break;
    case SessionPart::kRawStream:
      raw_->began(ok);
      break;
    case SessionPart::kAgain:
      repeated_->answered();  // after_reply() sends the next one
      break;
    case SessionPart::kOwnWrite:
      if (!ok && input_.waiting() != nullptr)
        input_.waiting()->waited().own_write_error = error_text(kept);
      break;
    case SessionPart::kBlocked:
      return blocked_->take(pending, ok, kept);
  }
  return true;
}

void Session::after_reply() {
  if (closed() || is_offering()) return;
  if (in_flight() == 0) {
    const Awaited awaited = input_.awaited();
    if (!in_multi_) traffic_.forget();
    if (repeats()) {
      repeated_->go_on();
    } else if (awaited != Awaited::kDrain) {
      servers_.leave_if_free();
    }
    const bool is_due = repeated_ != nullptr && repeated_->is_resume_due();
    if (awaited == Awaited::kDrain || awaited == Awaited::kAnswer || is_due) resume_later();
    if (is_closing() || presence_ != Presence::kHere) output_.flush_later();
  }
  room_available();
}

Session::Keeps Session::keeps(const Pending& pending, TimePoint read_at) {
  if (pending.of == Transaction::of(Transaction::Asked::kExec))
    return carrier().needs_exec_reply() ? Keeps::kCopy : Keeps::kNothing;
  if (pending.of.part != SessionPart::kBlocked || !is_blocked()) return Keeps::kNothing;
  const bool kept = blocked_->keeps_reply(read_at, pending.silent);
  return kept ? Keeps::kAll : Keeps::kNothing;
}

// A shared connection failed: each request in flight on it gets its own error.
void Session::reply_lost(Pending& pending, bool begun, const std::string& problem) {
  note_reply_at(parts_.loop.clock());
  if (!request_ended(pending.expected)) return;
  if (pending.of.part == SessionPart::kBlocked && !blocked_->lost(pending, problem)) return;
  if (pending.of.part == SessionPart::kTransaction) transaction_->lost(pending);
  parts_.count(copies::Count::kUpstreamErrors);
  const bool needs_no_error = pending.silent || sent_unasked(pending.kind);
  const bool half_sent = begun && !needs_no_error;  // a part of the reply cannot be taken back
  if (half_sent || has_state()) {  // closes a client whose state was lost with the connection
    close();
    return;
  }
  fail_in_flight(pending, problem, !needs_no_error);
}

// The reply to what was sent, or was on its way, will not come (upstream.on-down).
void Session::fail_in_flight(const Pending& pending, const std::string& problem, bool is_heard) {
  if (closes_when_down()) return close_when_flushed();
  const bool is_harmless = pending.read_only || pending.is_unexecuted;
  ByteBuffer error;
  resp::append_error(error, is_harmless ? not_executed(problem) : perhaps_executed(problem));
  if (pending.of.part == SessionPart::kAgain) repeated_->answered();
  give_rest(pending.ticket, is_heard ? error.view() : std::string_view());
}

void Session::ask_again(std::string_view request, const Pending& pending) {
  parts_.count(copies::Count::kReissued);
  if (repeated_ == nullptr)
    repeated_ =
        std::make_unique<RepeatedReads>(output_, static_cast<RepeatedReads::Client&>(*this));
  repeated_->add(request, pending);
}

void Session::room_available() {
  if (closed()) return;
  if (subscriptions_ != nullptr) subscriptions_->give_heard();
  if (near_ != nullptr) near_->give_owed();
  const bool is_drained = input_.awaited() == Awaited::kDrain && in_flight() == 0;
  if ((input_.is_throttled() && may_parse()) || is_drained) resume_later();
}

}  // namespace heatsink::proxy
