// SPDX-License-Identifier: Apache-2.0
// Runs WATCH and MULTI .. EXEC: on the server, or as a transaction that failed before it reached
// the server.
//
// Clients send MULTI, the commands and EXEC in one write. So when the proxy has no connection for
// them, it answers MULTI as a busy server does (+OK), each command with the reason, and EXEC with
// EXECABORT. Nothing is executed, and the client sees what it sees when a server refuses to queue
// commands.
#include <cassert>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

// Later commands wait until the server has begun the transaction. Otherwise they would be executed
// at once.
Step Session::run_multi(Request& request) {
  if (queues_transactions()) return begin_queue(request);
  if (watch_refused_) {
    return begin_failed_transaction(
        "ERR heatsink: a WATCH before this MULTI was refused, so nothing is executed; start again "
        "with WATCH");
  }
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (step == Step::kStall) return step;
  if (connection == nullptr) return begin_failed_transaction(std::move(request.waited().refusal));
  send_on(*connection, request, PendingKind::kMulti, 0);
  in_multi_ = true;
  stall(Awaited::kAnswer);
  return Step::kDone;
}

// The proxy refuses WATCH by itself if there is no connection for it, or a limit refuses it. A
// refusal by the server has the same effect as without a proxy.
Step Session::run_watch(Request& request) {
  const bool may_move = queues_transactions();
  if (may_move && in_flight() > 0) return stall(Awaited::kDrain);
  const std::uint64_t sent_before = traffic_.sent;
  const Step step = forward(request, true, may_move ? PendingKind::kWatch : PendingKind::kForward);
  if (may_move && traffic_.sent != sent_before) {
    if (!watching_) {
      last_state_request_ = request.raw;
      watched_slot_ = Destination::of(request).slot();
    }
    stall(Awaited::kAnswer);
  }
  if (step == Step::kDone) (traffic_.sent != sent_before ? watching_ : watch_refused_) = true;
  return step;
}

// A server that is busy with a script accepts UNWATCH, but no SELECT: then nothing has to be sent.
Step Session::run_unwatch(Request& request) {
  if (!has_state()) {
    if (in_flight() > 0) return stall(Awaited::kDrain);
    watch_refused_ = false;
    return reply("+OK\r\n");
  }
  const Step step = forward(request, watching_);
  if (step == Step::kDone) watching_ = watch_refused_ = false;
  return step;
}

Step Session::begin_failed_transaction(std::string&& why) {
  if (closing_) return Step::kDone;  // upstream.on-down
  if (in_flight() > 0) return stall(Awaited::kDrain);
  in_multi_ = true;
  transaction_refusal_ = std::move(why);
  return reply("+OK\r\n");
}

Step Session::in_transaction(Request& request) {
  if (request.route == Route::kQuit) return run_quit();
  if (request.route == Route::kReset) return run_reset();
  if (request.route == Route::kClient && request.args().size() > 1 &&
      equals_ignoring_case(request.args()[1], "reply")) {
    return reply_error("ERR heatsink: CLIENT REPLY is not supported inside MULTI");
  }
  if (request.route == Route::kDebug) return run_script_debug(request);
  if (transaction_failed()) return in_failed_transaction(request);
  if (queued_ != nullptr) {
    if (request.route == Route::kExec) return execute_queue(request);
    return request.route == Route::kDiscard ? discard_queue() : queue(request);
  }
  if (request.route == Route::kExec || request.route == Route::kDiscard)
    return end_transaction(request);
  const bool changes_connection =
      request.route == Route::kSelect || request.route == Route::kAuth ||
      request.route == Route::kHello || request.route == Route::kClient ||
      request.route == Route::kPinned || request.route == Route::kSubscribe;
  const Step step = forward(request, true);
  if (step == Step::kDone && request.route == Route::kSubscribe) queue_subscription(request);
  if (step == Step::kDone && request.route == Route::kHello) queue_hello(request);
  if (step == Step::kDone && changes_connection) {
    pin();
    transaction_names_ |=
        request.route == Route::kClient && equals_ignoring_case(request.args()[1], "setname");
    if (request.route == Route::kClient && equals_ignoring_case(request.args()[1], "setinfo"))
      note_library(request);  // introduce() repeats it after EXEC
    no_local_reads_ = true;   // only the server knows the connection's state after EXEC
  }
  return step;
}

Step Session::end_transaction(Request& request) {
  const bool executes = request.route == Route::kExec;
  const Step step = forward(request, true, executes ? PendingKind::kExec : PendingKind::kForward);
  if (step == Step::kStall) return step;
  if (!executes) drop_queued();
  forget_transaction();
  if (!transaction_names_ && !transaction_hello_) introduce_if_owed();  // else executed() decides
  return step;
}

void Session::forget_transaction() {
  in_multi_ = watching_ = watch_refused_ = false;
  transaction_refusal_.clear();
  transaction_ = {};
  transaction_spread_ = {};
  transaction_unknown_ = transaction_flush_ = transaction_changes_access_ = false;
  transaction_runs_code_ = false;
  transaction_queued_ = 0;
}

Step Session::in_failed_transaction(Request& request) {
  const bool executes = request.route == Route::kExec;
  if (in_flight() > 0) return stall(Awaited::kDrain);
  if (request.route == Route::kMulti) return reply_error("ERR MULTI calls can not be nested");
  if (request.route == Route::kWatch) return reply_error("ERR WATCH inside MULTI is not allowed");
  if (!executes && request.route != Route::kDiscard) return reply_error(transaction_refusal_);
  if (watching_ && private_) private_->send_own({"UNWATCH"});  // EXEC and DISCARD also end WATCHes
  forget_transaction();
  return executes ? reply_error("EXECABORT Transaction discarded because of previous errors.")
                  : reply("+OK\r\n");
}

void Session::queue_subscription(const Request& request) {
  assert(request.command != nullptr);  // an unknown command has route kPinned
  const bool adds = request.command->name.find("unsub") == std::string::npos;
  const std::size_t index = transaction_queued_ - 1;
  Channels& channels = channels_of(request);
  if (request.args().size() == 1) {
    for (const std::string& name : channels)
      transaction_channels_.push_back({&channels, name, false, index});
  }
  for (std::size_t i = 1; i < request.args().size(); ++i)
    transaction_channels_.push_back({&channels, std::string(request.args()[i]), adds, index});
}

void Session::queue_hello(const Request& request) {
  const std::size_t index = transaction_queued_ - 1;
  if (request.args().size() > 1 && (request.args()[1] == "2" || request.args()[1] == "3")) {
    const bool resp3 = request.args()[1] == "3";
    transaction_hello_ = {resp3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2, index};
  }
  for (std::size_t i = 2; i < request.args().size(); ++i)
    transaction_names_ |= equals_ignoring_case(request.args()[i], "setname");
}

}  // namespace heatsink::proxy
