// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/transaction.h"

#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/destination.h"

namespace heatsink::proxy {
namespace {

constexpr std::string_view kRefusedWatch =
    "ERR heatsink: a WATCH before this MULTI was refused, so nothing is executed; start again with "
    "WATCH";
constexpr std::string_view kAborted = "EXECABORT Transaction discarded because of previous errors.";
constexpr std::string_view kNested = "ERR MULTI calls can not be nested";
constexpr std::string_view kWatchInside = "ERR WATCH inside MULTI is not allowed";

bool names_client(const Request& request, std::string_view subcommand) {
  return request.route == Route::kClient && equals_ignoring_case(request.args()[1], subcommand);
}

// Redis refuses the rest of a transaction with this, after it has refused to queue a command.
bool is_exec_abort(std::string_view line) { return line.starts_with("EXECABORT"); }

// What concerns the client's connection to one server.
bool changes_connection(Route route) {
  return route == Route::kAuth || route == Route::kHello || route == Route::kClient ||
         route == Route::kPinned || route == Route::kSubscribe;
}

}  // namespace

// Later commands wait until the server has begun the transaction. Otherwise they would be executed
// at once.
Step Transaction::multi(Request& request) {
  if (client_.has_cluster()) return begin_queue(request);
  if (state_.watch_refused_) return begin_failed(std::string(kRefusedWatch));
  if (const std::optional<Step> step = client_.own_connection_for(request)) {
    if (*step == Step::kStall) return *step;
    return begin_failed(std::move(request.waited().refusal));
  }
  client_.send_on_own(request, of(Asked::kMulti));
  state_.in_multi_ = true;
  client_.stall_for(Awaited::kAnswer);
  return Step::kDone;
}

// The proxy refuses WATCH by itself if there is no connection for it, or a limit refuses it. A
// refusal by the server has the same effect as without a proxy.
Step Transaction::watch(Request& request) {
  const bool may_move = client_.has_cluster();
  if (may_move && !client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  const auto [step, is_sent] =
      client_.forward_on_own(request, may_move ? of(Asked::kWatch) : PartRequest());
  if (may_move && is_sent) {
    if (!state_.watching_) {
      watch_in_flight_ = request.raw;
      watched_slot_ = Destination::of(request).slot();
    }
    client_.stall_for(Awaited::kAnswer);
  }
  if (step == Step::kDone) (is_sent ? state_.watching_ : state_.watch_refused_) = true;
  return step;
}

// A server that is busy with a script accepts UNWATCH, but no SELECT: then nothing has to be sent.
Step Transaction::unwatch(Request& request) {
  if (!client_.has_state()) {
    if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
    state_.watch_refused_ = false;
    return client_.reply("+OK\r\n");
  }
  const Step step =
      state_.watching_ ? client_.forward_on_own(request, {}).step : client_.forward_whole(request);
  if (step == Step::kDone) state_.watching_ = state_.watch_refused_ = false;
  return step;
}

Step Transaction::begin_failed(std::string&& why) {
  if (client_.is_closing()) return Step::kDone;
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  state_.in_multi_ = true;
  refusal_ = std::move(why);
  state_.transaction_failed_ = !refusal_.empty();
  return client_.reply("+OK\r\n");
}

Step Transaction::run(Request& request) {
  if (request.args().size() > 1 && names_client(request, "reply"))
    return client_.reply_error("ERR heatsink: CLIENT REPLY is not supported inside MULTI");
  if (state_.transaction_failed()) return run_failed(request);
  if (is_queued_here()) {
    if (request.route == Route::kExec) return execute_queue(request);
    return request.route == Route::kDiscard ? discard_queue() : queue(request);
  }
  if (request.route == Route::kExec || request.route == Route::kDiscard)
    return end_on_server(request);
  const Step step = client_.forward_on_own(request, {}).step;
  if (step == Step::kDone) note_change_of_connection(request);
  return step;
}

void Transaction::note_change_of_connection(const Request& request) {
  const std::size_t index = queued_ - 1;
  if (request.route == Route::kSubscribe) client_.queue_subscription(request, index);
  if (request.route == Route::kHello) queue_hello(request);
  if (request.route != Route::kSelect && !changes_connection(request.route)) return;
  client_.keep_own_connection();
  names_ |= names_client(request, "setname");
  // introduce() repeats it after EXEC.
  if (names_client(request, "setinfo")) static_cast<void>(client_.note_library(request));
  state_.no_local_reads_ = true;  // only the server knows the connection's state after EXEC
}

void Transaction::queue_hello(const Request& request) {
  if (request.args().size() > 1 && (request.args()[1] == "2" || request.args()[1] == "3")) {
    const bool resp3 = request.args()[1] == "3";
    hello_ = {resp3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2, queued_ - 1};
  }
  for (std::size_t i = 2; i < request.args().size(); ++i)
    names_ |= equals_ignoring_case(request.args()[i], "setname");
}

Step Transaction::end_on_server(Request& request) {
  const bool executes = request.route == Route::kExec;
  const Step step =
      client_.forward_on_own(request, executes ? of(Asked::kExec) : PartRequest()).step;
  if (step == Step::kStall) return step;
  if (!executes) {
    client_.drop_queued_subscriptions();
    names_ = false;
    hello_.reset();
  }
  forget();
  if (!names_ && !hello_) client_.introduce_if_owed();  // else executed() decides
  return step;
}

Step Transaction::run_failed(Request& request) {
  const bool executes = request.route == Route::kExec;
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (request.route == Route::kMulti) return client_.reply_error(kNested);
  if (request.route == Route::kWatch) return client_.reply_error(kWatchInside);
  if (!executes && request.route != Route::kDiscard) return client_.reply_error(refusal_);
  if (state_.watching_) client_.tell_server({"UNWATCH"});  // EXEC and DISCARD also end WATCHes
  forget();
  return executes ? client_.reply_error(kAborted) : client_.reply("+OK\r\n");
}

void Transaction::forget() {
  state_.in_multi_ = state_.watching_ = state_.watch_refused_ = false;
  state_.transaction_failed_ = false;
  refusal_.clear();
  effects_ = {};
  queued_ = 0;
}

void Transaction::reset() {
  forget();
  names_ = false;
  hello_.reset();
  queue_.reset();
}

void Transaction::move_effects(Pending& from, Pending& to) {
  to.keys = std::move(from.keys);
  to.unknown_keys = from.unknown_keys;
  to.flush = from.flush;
  to.runs_code = from.runs_code;
  to.changes_access = from.changes_access;
  to.spread = std::move(from.spread);
}

// ---- replies

void Transaction::take(const Pending& pending, bool ok, const resp::ReplyScanner& reply,
                       std::string_view kept) {
  lost(pending);
  if (pending.of == of(Asked::kMulti) && !ok) state_.in_multi_ = false;
  if (pending.of == of(Asked::kExec)) executed(ok, reply, kept);
}

// It cannot be sent again any more.
void Transaction::lost(const Pending& pending) {
  if (pending.of == of(Asked::kExec)) queue_.reset();
  if (pending.of == of(Asked::kWatch)) watch_in_flight_.clear();
}

// An aborted EXEC answers null, and none of the queued commands has run. `wire` is empty unless it
// is needed, or if the reply is very long: then all commands count as executed.
void Transaction::executed(bool ok, const resp::ReplyScanner& reply, std::string_view wire) {
  const std::optional<QueuedHello> hello = std::exchange(hello_, std::nullopt);
  const bool named = std::exchange(names_, false);
  const bool aborted = !ok || reply.announced() < 0 || reply.type() == '_';
  resp::Value replies;
  std::size_t used = 0;
  if (!wire.empty()) static_cast<void>(resp::parse_value(wire, replies, used));
  const auto is_done = [&](std::size_t index) {
    return index >= replies.items.size() || !replies.items[index].is_error();
  };
  if (!aborted && named) state_.name_owed_ = false;
  if (!aborted && hello && is_done(hello->index)) client_.change_protocol(hello->protocol);
  if (!state_.in_multi_) client_.introduce_if_owed();
  client_.subscriptions_executed(aborted ? nullptr : &replies);
}

// ---- what a node of a cluster has refused

void Transaction::queued_refused(std::string_view line) {
  if (queue_ && queue_->refusal.empty()) queue_->refusal = line;
}

std::string_view Transaction::decisive(const Pending& pending, std::string_view line) const {
  return pending.of == of(Asked::kExec) && is_exec_abort(line) && queue_ ? queue_->refusal : line;
}

// The client was told QUEUED for a command that the server has refused, so EXEC says why.
std::string Transaction::answer_to_refused(const Pending& pending, std::string_view line) const {
  const bool was_refused =
      pending.of == of(Asked::kExec) && is_exec_abort(line) && queue_ && !queue_->refusal.empty();
  if (!was_refused) return {};
  ByteBuffer wire;
  resp::append_error(wire, "EXECABORT Transaction discarded because of: " + queue_->refusal);
  return std::string(wire.view());
}

// A watched key may have been on the node that no longer has the slot, so the transaction counts as
// one whose watched key has changed: the client starts again.
std::string Transaction::answer_to_moved(const Pending& pending) const {
  if (pending.of != of(Asked::kExec) || !queue_->watches) return {};
  ByteBuffer wire;
  state_.protocol_ == resp::Protocol::kResp3 ? resp::append_null(wire, state_.protocol_)
                                             : wire.append("*-1\r\n");
  return std::string(wire.view());
}

std::string Transaction::wire_to_repeat(const Pending& pending) {
  if (pending.of == of(Asked::kExec)) return queue_ ? "*1\r\n$4\r\nEXEC\r\n" : "";
  return std::exchange(watch_in_flight_, {});
}

void Transaction::undo_sending(Pending& pending) {
  if (pending.of == of(Asked::kWatch)) state_.watching_ = false;
  if (pending.of != of(Asked::kExec)) return;
  state_.in_multi_ = true;
  move_effects(pending, effects_);
}

// ---- in front of a cluster

Step Transaction::begin_queue(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (state_.watch_refused_) return begin_failed(std::string(kRefusedWatch));
  if (!request.has_right_arity())
    return client_.reply_error("ERR wrong number of arguments for 'multi' command");
  queue_.emplace();
  queue_->watches = state_.watching_;
  queue_->slot = state_.watching_ ? watched_slot_ : std::nullopt;
  state_.in_multi_ = true;
  return client_.reply("+OK\r\n");
}

Step Transaction::refuse_to_queue(std::string&& why) {
  queue_->failed = true;
  return client_.reply_error(why);
}

// The keys of `request` are in the transaction's slot, which the first key decides.
bool Transaction::takes_slot(const Request& request) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const std::uint16_t slot = resp::key_slot(request.args()[ref.arg]);
    if (queue_->slot && *queue_->slot != slot) return false;
    queue_->slot = slot;
  }
  return true;
}

// "": it is queued.
std::string Transaction::why_not_queued(const Request& request) {
  if (request.command == nullptr)
    return "ERR unknown command '" + std::string(request.args()[0].substr(0, 128)) + "'";
  if (!request.has_right_arity())
    return "ERR wrong number of arguments for '" + request.command->name + "' command";
  const bool is_refused = changes_connection(request.route) || request.route == Route::kRaw ||
                          request.command->has(resp::kNoMulti);
  if (is_refused)
    return "ERR heatsink: " + request.command->name +
           " is not supported inside MULTI in front of a cluster";
  if (!takes_slot(request)) return "CROSSSLOT Keys in request don't hash to the same slot";
  const bool is_too_long =
      queue_->bytes + request.raw.size() > parts_.shared.options().client_output_max.count ||
      queue_->requests.size() == QueuedTransaction::kCommandsMax;
  if (is_too_long)
    return "ERR heatsink: the transaction is too long: the proxy queues at most " +
           std::to_string(QueuedTransaction::kCommandsMax) +
           " commands and proxy.client-output-limit bytes";
  return {};
}

Step Transaction::queue(Request& request) {
  if (request.route == Route::kMulti) return client_.reply_error(kNested);
  if (request.route == Route::kWatch) return client_.reply_error(kWatchInside);
  if (std::string why = why_not_queued(request); !why.empty())
    return refuse_to_queue(std::move(why));
  if (const std::optional<Step> step = client_.departs(request)) return *step;
  note_queued(request);
  return client_.reply("+QUEUED\r\n");
}

void Transaction::note_queued(const Request& request) {
  if (request.facts->scripts == ScriptUse::kText)
    parts_.shared.scripts.learn(request.args()[1], nullptr);
  if (request.facts->scripts == ScriptUse::kSha1) queue_->scripts.emplace_back(request.args()[1]);
  queue_->requests.emplace_back(request.raw);
  queue_->bytes += request.raw.size();
  ++queued_;
  Pending noted;
  client_.note_keys(request, noted);
}

Step Transaction::discard_queue() {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  drop_queue();
  return client_.reply("+OK\r\n");
}

Step Transaction::execute_queue(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (queue_->failed || !request.has_right_arity()) {
    drop_queue();
    return client_.reply_error(kAborted);
  }
  if (const std::optional<Step> step = client_.own_connection_for(request)) {
    if (*step == Step::kStall) return *step;
    drop_queue();
    return client_.refuse_without_connection(request);
  }
  queue_->refusal.clear();
  // Also if the node should know them: it may have been restarted, and would say so only at EXEC.
  for (const std::string& sha1 : queue_->scripts)
    if (const auto text = parts_.shared.scripts.text_of(sha1))
      client_.tell_server({"SCRIPT", "LOAD", *text});
  if (request.has_waited() && request.waited_for().asking) client_.tell_server({"ASKING"});
  client_.send_for_part("*1\r\n$5\r\nMULTI\r\n", of(Asked::kQueued));
  for (const std::string& each : queue_->requests) client_.send_for_part(each, of(Asked::kQueued));
  client_.send_on_own(request, of(Asked::kExec));
  forget();
  client_.stall_for(Awaited::kAnswer);  // the transaction may have to be sent again
  return Step::kDone;
}

// EXEC and DISCARD also end WATCHes.
void Transaction::drop_queue() {
  if (state_.watching_) client_.tell_server({"UNWATCH"});
  queue_.reset();
  forget();
}

// ---- memory, and to and from another process

std::size_t Transaction::bytes() const {
  return sizeof(*this) + effects_.keys.size() * sizeof(copies::TouchedKey) +
         (queue_ ? queue_->bytes : 0);
}

bool Transaction::is_too_long_to_carry() const {
  return refusal_.size() > CarriedSession::kNameMax ||
         (state_.in_multi_ && queue_ && queue_->bytes > CarriedSession::kQueuedMax);
}

CarriedTransaction Transaction::carried() const {
  return {.flush = effects_.flush,
          .changes_access = effects_.changes_access,
          .names = names_,
          .refusal = refusal_,
          .queued = queued_,
          .watched_slot = watched_slot_,
          .queue = queue_};
}

void Transaction::take_over(const CarriedTransaction& before) {
  names_ = before.names;
  refusal_ = before.refusal;
  state_.transaction_failed_ = !refusal_.empty();
  queued_ = before.queued;
  watched_slot_ = before.watched_slot;
  effects_.flush = before.flush;
  effects_.changes_access = before.changes_access;
  // The keys of the queued commands are known to the other process only.
  effects_.unknown_keys = effects_.runs_code = state_.in_multi_;
}

}  // namespace heatsink::proxy
