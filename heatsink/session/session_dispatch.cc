// SPDX-License-Identifier: Apache-2.0
// Dispatches one request: a relief answers it, the session sends it to a server, or handles it.
#include <algorithm>
#include <utility>

#include "heatsink/base/hash_inline.h"
#include "heatsink/base/heartbeat_key.h"
#include "heatsink/command/ascii.h"
#include "heatsink/command/script_text.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

// A transaction with more keys counts as one that may touch any key.
constexpr std::size_t kTransactionKeysMax = 10'000;
// Of one command or transaction. The copies of further keys end by themselves.
constexpr std::size_t kSpreadKeysMax = 1'000;

// Clients look for the server's words, people read the rest.
constexpr std::string_view kNoTracking =
    "ERR unknown subcommand 'TRACKING'. heatsink: CLIENT TRACKING is not supported in front of a "
    "cluster: turn client-side caching off in the client; the proxy has copies of hot keys";

bool says_block(const std::vector<std::string_view>& args) {
  return std::any_of(args.begin() + 1, args.end(),
                     [](std::string_view arg) { return equals_ignoring_case(arg, "block"); });
}

// The server queues the command inside MULTI.
bool is_queued(Route route) {
  return route != Route::kExec && route != Route::kDiscard && route != Route::kMulti &&
         route != Route::kWatch;
}

// Then the table has found the container.
bool is_unknown_subcommand(const Request& request) {
  return request.command != nullptr && request.command->is_container && request.args().size() > 1;
}

// What the server does not hear from a connection that is in such a stream already.
bool is_ignored_in_stream(const Request& request) { return request.route == Route::kRaw; }

}  // namespace

Step Session::dispatch(Request& request) {
  // Looked up each time, because the table may have changed while the request waited.
  request.command = parts_.commands.find(request.args());
  request.facts =
      request.command == nullptr ? &kUnknownCommand : &parts_.commands.facts(*request.command);
  request.route = request.facts->route;
  if (mode_ == Mode::kRaw) return dispatch_raw(request);
  const std::uint64_t sent_before = traffic_.sent;
  const Outcome outcome = reliefs_.arrives(request);
  const Step step = outcome != Outcome::kPass ? step_of(outcome)
                    : is_simple(request)      ? forward(request, false)
                                              : carry_out(request);
  // A request that reached the server keeps the tokens of its limits.
  if (step == Step::kDone) reliefs_.ended(traffic_.sent != sent_before);
  // A script that waits for a server that is away will run on the one that comes back.
  if (step == Step::kDone && request.facts->uses_scripts) ran_script_at_ = request.now;
  return step;
}

// carry_out() and run() would find nothing to do but to forward it.
bool Session::is_simple(const Request& request) const {
  return request.facts->is_simple() && user_ == User::kShared && !in_multi_ &&
         listeners_ == nullptr && request.has_right_arity() && !is_unknown_subcommand(request) &&
         parts_.shared.current().spreads.empty();
}

Step Session::carry_out(Request& request) {
  const bool refused =
      request.command == nullptr || !request.has_right_arity() || is_unknown_subcommand(request);
  // The server will refuse it, so it changes nothing; but a refused EXEC ends its transaction.
  const bool ends = in_multi_ && request.route == Route::kExec;
  // A newer server than the table's may know the subcommand, so that one stays pinned.
  if (refused && request.command != nullptr && !ends && !is_unknown_subcommand(request))
    request.route = Route::kShared;
  if (user_ == User::kUnauthenticated) {
    // The server checks that the command exists before it checks the login.
    if (refused) {
      request.route = Route::kPrivate;
    } else if (!request.command->has(resp::kNoAuth)) {
      return reply_error("NOAUTH Authentication required.");
    }
  }
  if (is_bound() && queues_transactions()) {
    if (private_ || user_name_ != "default") return leave_bound();
    use_servers_of({});  // it has never logged in
  }
  if (request.facts->shows_cluster && presents_cluster(request)) return run_presented(request);
  if (queues_transactions()) {
    const std::size_t parts = ScatteredCommands::parts_of_counter(request, db_, parts_);
    if (parts > 0) return scattered().run_counter(request, parts);
  }
  return in_multi_ ? in_transaction(request) : run(request);
}

// Each node sends the invalidations of its own keys, to connections that ask it for tracking. The
// connections of a client are the proxy's, and other nodes than the one asked would stay silent.
bool Session::refuses_tracking(const Request& request) const {
  const bool turns_on = request.facts->asks_tracking && request.args().size() > 2 &&
                        equals_ignoring_case(request.args()[2], "on");
  return turns_on && parts_.shared.cluster.is_expected();
}

// The client has logged in before the server was known to be a node of a cluster, so its login is
// on one connection, to that node. Its password is not known any more.
Step Session::leave_bound() {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  reply_error(
      "ERR heatsink: the server is a node of a cluster, which was not known when this client "
      "logged "
      "in: connect again");
  close_when_flushed();
  return Step::kDone;
}

Step Session::run(Request& request) {
  if (asks_nodes(request)) return run_nodes(request);
  if (refuses_tracking(request)) return reply_error(kNoTracking);
  if (listeners_ != nullptr && refuses_as_subscriber(request)) return Step::kDone;
  const bool may_scatter = request.facts->fan_out != nullptr && request.has_right_arity() &&
                           queues_transactions() && !is_bound();
  if (may_scatter && ScatteredCommands::needs(request)) return scattered().run(request);
  switch (request.route) {
    case Route::kShared:
      return forward(request, false);
    case Route::kMaybeBlocking:
    case Route::kBlocking: {
      const bool blocks = request.route == Route::kBlocking || says_block(request.args());
      return blocks ? forward_waiting(request) : forward(request, false);
    }
    case Route::kNoDb: {
      Step step = Step::kDone;
      Upstream* connection = private_in_any_db(request, step, true);
      return connection == nullptr ? no_connection(request, step)
                                   : send_on(*connection, request, PendingKind::kForward, 0);
    }
    case Route::kPinned:
      // READONLY, READWRITE, ASKING: what one server says, for the proxy chooses the node.
      if (request.facts->chooses_node && queues_transactions())
        return reply_error("ERR This instance has cluster support disabled");
      return forward(request, true);
    case Route::kPrivate:
      return forward(request, true);
    case Route::kDebug:
      return run_script_debug(request);
    case Route::kMulti:
      return run_multi(request);
    case Route::kWatch:
      return run_watch(request);
    case Route::kUnwatch:
      return run_unwatch(request);
    case Route::kExec:
    case Route::kDiscard:
      return forward(request, false);
    case Route::kWait:
      return run_wait(request);
    case Route::kSelect:
      return run_select(request);
    case Route::kAuth:
      return run_auth(request);
    case Route::kHello:
      return run_hello(request);
    case Route::kQuit:
      return run_quit();
    case Route::kReset:
      return run_reset();
    case Route::kClient:
      return run_client(request);
    case Route::kSubscribe:
      return run_subscribe(request);
    case Route::kRaw:
      return run_raw(request);
  }
  return Step::kDone;
}

// A write behind a MONITOR stream has no recognizable reply, so no fence could be raised for it. A
// server closes a replica's connection whose command has a reply, because replies would be taken
// for data.
Step Session::dispatch_raw(Request& request) {
  if (!replicates_ && request.route == Route::kQuit) return run_quit();
  if (!replicates_ && request.route == Route::kReset) return run_reset();
  const bool harmless =
      request.command != nullptr &&
      !request.command->has(resp::kWrite | resp::kMayReplicate | resp::kNoMulti) &&
      (request.route == Route::kShared || request.command->name == "replconf");
  if (!harmless && !is_ignored_in_stream(request)) {
    if (!replicates_)
      return reply_error(
          "ERR heatsink: a connection in MONITOR or replication mode accepts only reads, PING, "
          "RESET "
          "and QUIT");
    close_when_flushed();
    return Step::kDone;
  }
  if (private_) private_->send_more(request.raw);
  return Step::kDone;
}

Step Session::forward(Request& request, bool own_connection, PendingKind kind,
                      std::uint32_t number) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  Step step = Step::kDone;
  if (!own_connection) expect_reply(request);
  const bool is_big = request.raw.size() > parts_.shared.options().stream_threshold.count;
  const bool own = own_connection || is_big || is_bound() || is_too_long_to_share(request);
  Upstream* connection = connection_for(request, own, step);
  if (connection == nullptr) return no_connection(request, step);
  return send_on(*connection, request, kind, number);
}

// The shared connection, if forward() would send the request on it at once; else null.
Upstream* Session::ready_connection(Request& request) {
  expect_reply(request);
  if (is_too_long_to_share(request)) return nullptr;
  if (must_drain_first()) return nullptr;
  const Destination to = destination_of(request);
  Upstream* const shared = upstreams_->shared(protocol_, to).connection;
  const bool is_ready = shared != nullptr && shared->db() == db_ && !shared->is_read_slowly();
  return is_ready ? shared : nullptr;
}

Step Session::send_on(Upstream& connection, Request& request, PendingKind kind,
                      std::uint32_t number) {
  const bool pins = request.route == Route::kPinned && !pinned_;
  if (pins) pin();
  if (request.facts->scripts != ScriptUse::kNone && !in_multi_) prepare_script(connection, request);
  const bool asks = request.has_waited() && request.waited_for().asking;
  if (asks && kind != PendingKind::kExec) connection.send_own({"ASKING"});
  // A client that tracks keys itself gets invalidations only for reads that reach the server.
  if (request.facts->asks_tracking) no_local_reads_ = true;
  if (in_multi_ && is_queued(request.route)) ++transaction_queued_;
  parts_.count(copies::Count::kCommands);
  parts_.count(private_ ? copies::Count::kForwardedPrivate : copies::Count::kForwardedShared);
  ++traffic_.sent;
  const bool harmless = request.facts->reveals_no_key ||
                        (request.command != nullptr && request.command->has(resp::kReadonly));
  Pending pending = make_pending(request, kind, number, &connection == private_.get());
  pending.rewritten = request.facts->shows_cluster && rewrites_reply(request, kind);
  pending.pins = pins;
  pending.ticket = replies_.expect();
  pending.is_usual = kind == PendingKind::kForward && !pending.silent && !pending.rewritten &&
                     !pins && pending.keys.size() <= 1 && pending.asked_right == nullptr &&
                     pending.spread == nullptr;
  if (!harmless) {
    last_effect_ = pending.ticket;
    written_.note(connection.server());
  }
  // On a private connection no other client waits for the reply, so only its known size counts: as
  // work and memory of the server.
  const ExpectedReply expected = request.expected;
  pending.expected = &connection == private_.get() ? expected.known : expected.counted;
  owed_ += pending.expected;
  connection.send(request.raw, std::move(pending));
  if (parts_.key_refs.size() > 1) follow_alone();
  return Step::kDone;
}

// Every node of a cluster must know the scripts that one server would know. With one server the
// texts show which of them are harmless (may_exchange()).
void Session::prepare_script(Upstream& connection, const Request& request) {
  KnownScripts& scripts = parts_.shared.scripts;
  if (!queues_transactions()) {
    const bool loads = request.facts->scripts == ScriptUse::kLoad && request.args().size() == 3;
    if (loads && names_its_commands(request.args()[2])) scripts.learn(request.args()[2], nullptr);
    return;
  }
  if (request.args().size() < 2) return;
  const std::string_view what = request.args()[1];
  if (request.facts->scripts == ScriptUse::kText) return scripts.learn(what, &connection.server());
  if (request.facts->scripts != ScriptUse::kSha1) return;
  if (const auto text = scripts.missing_at(connection.server(), what))
    connection.send_own({"SCRIPT", "LOAD", *text});
}

// While slots move, a command with several keys may have to wait (TRYAGAIN), and the server would
// execute those behind it before.
void Session::follow_alone() {
  if (parts_.shared.cluster.has_moves(parts_.loop.now())) stall(Awaited::kAnswer);
}

Pending Session::make_pending(Request& request, PendingKind kind, std::uint32_t number,
                              bool on_private) {
  Pending pending;
  pending.session = this;
  pending.kind = kind;
  pending.number = number;
  pending.silent = take_silence();
  pending.reply_of = request.reply_of.value;
  pending.sized_as = in_multi_ ? 0 : request.facts->sized_as;
  pending.asked_right = std::move(request.asked_right);
  pending.read_only = request.command != nullptr && request.command->has(resp::kReadonly);
  pending.reveals_keys = !request.facts->reveals_no_key;
  const bool executes = !in_multi_ || request.route == Route::kExec;
  if (executes && in_multi_) {
    pending.keys = std::move(transaction_);
    pending.unknown_keys = transaction_unknown_;
    pending.flush = transaction_flush_;
    pending.runs_code = transaction_runs_code_;
    pending.changes_access = transaction_changes_access_;
    if (!transaction_spread_.empty())
      pending.spread = std::make_unique<SpreadKeysWritten>(std::move(transaction_spread_));
    transaction_spread_.clear();
  }
  note_keys(request, pending);
  // A blocking command may wait for minutes and must not hold back copies: its reply raises the
  // fence.
  if (executes && request.route != Route::kBlocking)
    parts_.copies.begin_writes(pending, on_private);
  return pending;
}

// Copies of the key on other nodes end when the reply has come (spread_write.h).
void Session::note_write(std::string_view key, NameHash name, bool queued, Pending& pending) {
  traffic_.note_write(name);
  if (parts_.spread == nullptr || db_ != 0) return;
  const policy::SpreadPolicy* const spread = parts_.shared.current().spread_of(key);
  if (spread == nullptr || spread->copies == 0) return;
  if (!queued && pending.spread == nullptr) pending.spread = std::make_unique<SpreadKeysWritten>();
  SpreadKeysWritten& written = queued ? transaction_spread_ : *pending.spread;
  if (written.size() < kSpreadKeysMax) written.push_back({std::string(key), spread->copies});
}

// Whether the request may run SWAPDB, which a cluster does not have. Learns harmless scripts.
bool Session::may_exchange(const Request& request) {
  const Exchange exchange = request.facts->exchange;
  if (exchange == Exchange::kNever || queues_transactions()) return false;
  const bool names_script = request.args().size() > 1;
  switch (exchange) {
    case Exchange::kByText: {
      const bool is_harmless = names_script && names_its_commands(request.args()[1]);
      if (is_harmless) parts_.shared.scripts.learn(request.args()[1], nullptr);
      return !is_harmless;
    }
    case Exchange::kBySha1: {
      if (!names_script) return false;
      const auto text = parts_.shared.scripts.text_of(request.args()[1]);
      return text == nullptr || !names_its_commands(*text);
    }
    default:
      return true;
  }
}

// Inside MULTI the keys are kept for EXEC, when the server runs the commands.
void Session::note_keys(const Request& request, Pending& pending) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  const resp::Keys keys = request.command == nullptr
                              ? resp::Keys::kUnknown
                              : resp::find_keys(*request.command, request.args(), refs);
  const CommandFacts& facts = *request.facts;
  const bool code = may_exchange(request);
  const bool queued =
      in_multi_ && request.route != Route::kExec && request.route != Route::kDiscard;
  // The keys behind a queued SELECT are of another database than the client's.
  const bool unknown = keys != resp::Keys::kKnown || facts.runs_code || facts.changes_rights ||
                       code || (queued && request.route == Route::kSelect);
  const bool flush =
      facts.changes_rights || (keys == resp::Keys::kUnknown && facts.hides_invalidations);
  (queued ? transaction_unknown_ : pending.unknown_keys) |= unknown;
  (queued ? transaction_flush_ : pending.flush) |= flush;
  (queued ? transaction_runs_code_ : pending.runs_code) |= code;
  (queued ? transaction_changes_access_ : pending.changes_access) |= facts.changes_access;
  if (unknown) traffic_.touch_all();
  // Each key of a write counts for an equal part of the request.
  const auto written = [&] {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(request.raw.size() / refs.size(), UINT32_MAX));
  };
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = request.args()[ref.arg];
    const NameHash name = request.name_hash(ref.arg, parts_.shared.seed);
    const KeyHash hash = in_db(name, db_);
    traffic_.touch(name);
    if (ref.write) note_write(key, name, queued, pending);
    parts_.count_slot(key);
    // Another proxy or the library may send its tracking heartbeats through this proxy.
    const bool is_heartbeat = no_local_reads_ && is_heartbeat_key(key);
    if (!is_heartbeat) {
      parts_.record({.hash = hash,
                     .key = key,
                     .db = db_,
                     .kind = ref.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead,
                     .local_hit = false,
                     .bytes = ref.write ? written() : parts_.last_reply_bytes(hash),
                     .command = facts.number,
                     .client = address_});
    }
    if (queued && transaction_.size() >= kTransactionKeysMax) {
      transaction_unknown_ = true;
    } else {
      // If the database is in doubt, the name is fenced in all databases, as for a write.
      (queued ? transaction_ : pending.keys).add({name, hash, ref.write || no_local_reads_});
    }
  }
}

}  // namespace heatsink::proxy
