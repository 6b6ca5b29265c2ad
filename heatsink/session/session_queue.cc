// SPDX-License-Identifier: Apache-2.0
// Runs MULTI .. EXEC in front of a cluster: the proxy queues the commands, and sends them at EXEC
// to the node of their keys (queued_transaction.h).
#include <optional>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/session/session.h"
#include "heatsink/topology/topology.h"

namespace heatsink::proxy {

// With one server, the server queues them.
bool Session::queues_transactions() { return upstreams_->map_version() != 0; }

Step Session::begin_queue(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  if (watch_refused_)
    return begin_failed_transaction(
        "ERR heatsink: a WATCH before this MULTI was refused, so nothing is executed; start again "
        "with WATCH");
  if (!request.has_right_arity())
    return reply_error("ERR wrong number of arguments for 'multi' command");
  queued_ = std::make_unique<QueuedTransaction>();
  queued_->watches = watching_;
  queued_->slot = watching_ ? watched_slot_ : std::nullopt;
  in_multi_ = true;
  return reply("+OK\r\n");
}

Step Session::refuse_to_queue(std::string&& why) {
  queued_->failed = true;
  return reply_error(why);
}

// The keys of `request` are in the transaction's slot, which the first key decides.
bool Session::takes_slot(const Request& request) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const std::uint16_t slot = resp::key_slot(request.args()[ref.arg]);
    if (queued_->slot && *queued_->slot != slot) return false;
    queued_->slot = slot;
  }
  return true;
}

Step Session::queue(Request& request) {
  const Route route = request.route;
  if (route == Route::kMulti) return reply_error("ERR MULTI calls can not be nested");
  if (route == Route::kWatch) return reply_error("ERR WATCH inside MULTI is not allowed");
  if (request.command == nullptr)
    return refuse_to_queue("ERR unknown command '" + std::string(request.args()[0].substr(0, 128)) +
                           "'");
  if (!request.has_right_arity())
    return refuse_to_queue("ERR wrong number of arguments for '" + request.command->name +
                           "' command");
  const bool changes_connection = route == Route::kAuth || route == Route::kHello ||
                                  route == Route::kClient || route == Route::kPinned ||
                                  route == Route::kSubscribe || route == Route::kRaw;
  if (changes_connection || request.command->has(resp::kNoMulti))
    return refuse_to_queue("ERR heatsink: " + request.command->name +
                           " is not supported inside MULTI in front of a cluster");
  if (!takes_slot(request))
    return refuse_to_queue("CROSSSLOT Keys in request don't hash to the same slot");
  const std::size_t bytes = queued_->bytes + request.raw.size();
  if (bytes > parts_.shared.options().client_output_max.count ||
      queued_->requests.size() == QueuedTransaction::kCommandsMax)
    return refuse_to_queue("ERR heatsink: the transaction is too long: the proxy queues at most " +
                           std::to_string(QueuedTransaction::kCommandsMax) +
                           " commands and proxy.client-output-limit bytes");
  if (const Outcome outcome = reliefs_.departs(request); outcome != Outcome::kPass)
    return step_of(outcome);
  if (request.facts->scripts == ScriptUse::kText)
    parts_.shared.scripts.learn(request.args()[1], nullptr);
  if (request.facts->scripts == ScriptUse::kSha1) queued_->scripts.emplace_back(request.args()[1]);
  queued_->requests.emplace_back(request.raw);
  queued_->bytes = bytes;
  ++transaction_queued_;
  Pending noted;
  note_keys(request, noted);
  return reply("+QUEUED\r\n");
}

Step Session::discard_queue() {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  drop_queue();
  return reply("+OK\r\n");
}

Step Session::execute_queue(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  if (queued_->failed || !request.has_right_arity()) {
    drop_queue();
    return reply_error("EXECABORT Transaction discarded because of previous errors.");
  }
  Step step = Step::kDone;
  Upstream* const connection = private_connection(request, step);
  if (step == Step::kStall) return step;
  if (connection == nullptr) {
    drop_queue();
    return no_connection(request, step);
  }
  queued_->refusal.clear();
  // Also if the node should know them: it may have been restarted, and would say so only at EXEC.
  for (const std::string& sha1 : queued_->scripts)
    if (const auto text = parts_.shared.scripts.text_of(sha1))
      connection->send_own({"SCRIPT", "LOAD", *text});
  if (request.has_waited() && request.waited_for().asking) connection->send_own({"ASKING"});
  constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";
  send_queued(*connection, kMulti);
  for (const std::string& each : queued_->requests) send_queued(*connection, each);
  send_on(*connection, request, PendingKind::kExec, 0);
  forget_transaction();
  stall(Awaited::kAnswer);  // the transaction may have to be sent again
  return Step::kDone;
}

// EXEC and DISCARD also end WATCHes.
void Session::drop_queue() {
  if (watching_ && private_) private_->send_own({"UNWATCH"});
  queued_.reset();
  forget_transaction();
}

void Session::send_queued(Upstream& connection, std::string_view wire) {
  Pending pending;
  pending.session = this;
  pending.kind = PendingKind::kQueued;
  pending.reveals_keys = false;
  ++traffic_.sent;
  connection.send(wire, std::move(pending));
}

// The server has refused to queue a command, and will refuse EXEC.
bool Session::note_queue_error(Pending& pending, std::string_view line) {
  if (queued_ != nullptr && queued_->refusal.empty()) queued_->refusal = line;
  ++traffic_.received;
  owed_ -= pending.expected;
  if (closed_ && in_flight() == 0) host_.destroy_at_end_of_turn(*this);
  return true;
}

}  // namespace heatsink::proxy
