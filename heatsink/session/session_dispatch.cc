// SPDX-License-Identifier: Apache-2.0
// Dispatches requests: a relief answers one, the session sends it to a server, or handles it.
#include <algorithm>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/command/reviewed_commands.h"
#include "heatsink/session/plain_runs.h"
#include "heatsink/session/presented_cluster.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

// Clients look for the server's words, people read the rest.
constexpr std::string_view kNoTracking =
    "ERR unknown subcommand 'TRACKING'. heatsink: in front of a cluster CLIENT TRACKING needs "
    "proxy.client-tracking: pays, and a client in RESP3 without BCAST, PREFIX and REDIRECT; or "
    "turn client-side caching off in the client: the proxy has copies of hot keys";

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

bool tells_library(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  return args.size() == 4 && equals_ignoring_case(args[0], "client") &&
         equals_ignoring_case(args[1], "setinfo");
}

}  // namespace

Step Session::dispatch(Request& request) {
  // Looked up each time, because the table may have changed while the request waited.
  request.command = parts_.commands.find(request.args());
  request.facts =
      request.command == nullptr ? &kUnknownCommand : &parts_.commands.facts(*request.command);
  request.route = request.facts->route;
  if (is_raw()) return dispatch_raw(request);
  const std::uint64_t sent_before = traffic_.sent;
  const bool is_silent = reply_off_ || reply_skip_;
  const Outcome outcome = reliefs_.arrives(request);
  const Step step = outcome != Outcome::kPass ? step_of(outcome)
                    : is_simple(request)      ? forward(request, false)
                                              : carry_out(request);
  // A request that reached the server keeps the tokens of its limits.
  if (step == Step::kDone) reliefs_.ended(traffic_.sent != sent_before);
  // A script that waits for a server that is away will run on the one that comes back.
  if (step == Step::kDone && request.facts->uses_scripts) ran_script_at_ = request.now;
  if (near_mode_.is_on || near_ != nullptr) [[unlikely]]
    follow_near(request, step, is_silent);
  return step;
}

// carry_out() and run() would find nothing to do but to forward it.
bool Session::is_simple(const Request& request) const {
  return request.facts->is_simple() && user_ == User::kShared && !in_multi_ && !restricts() &&
         request.has_right_arity() && !is_unknown_subcommand(request) &&
         parts_.shared.current().spreads.empty();
}

Step Session::carry_out(Request& request) {
  const bool refused =
      request.command == nullptr || !request.has_right_arity() || is_unknown_subcommand(request);
  // The server will refuse it, so it changes nothing; but a refused EXEC ends its transaction.
  const bool ends = in_multi_ && request.route == Route::kExec;
  // A newer server than the table's may know the subcommand, so that one stays pinned. But most
  // libraries send CLIENT SETINFO first of all, which servers before 7.2 refuse.
  const bool is_setinfo = tells_library(request);
  const bool may_change = is_unknown_subcommand(request) && !is_setinfo;
  if (refused && request.command != nullptr && !ends && !may_change) request.route = Route::kShared;
  // Also if the server is about to refuse the command.
  if (is_setinfo && equals_ignoring_case(request.args()[2], "lib-name"))
    stores_in_order_ = NearClient::stores_in_order(request.args()[3]);
  if (user_ == User::kUnauthenticated) {
    // The server checks that the command exists before it checks the login.
    if (refused) {
      request.route = Route::kPrivate;
    } else if (!request.command->has(resp::kNoAuth)) {
      return reply_error("NOAUTH Authentication required.");
    }
  }
  if (is_bound() && has_cluster()) {
    if (own() != nullptr || user_name_ != "default") return leave_bound();
    identity().use_servers_of({});  // it has never logged in
  }
  if (!in_multi_ && restricts() && subscriptions_->refuses(request)) return Step::kDone;
  if (request.facts->shows_cluster &&
      answers_as_cluster(request, parts_, *this, receives_messages()))
    return run_presented(request);
  if (has_cluster()) {
    const std::size_t parts = ScatteredCommands::parts_of_counter(request, db_, parts_);
    if (parts > 0) return scattered().run_counter(request, parts);
  }
  return in_multi_ ? in_transaction(request) : run(request);
}

// Each node sends the invalidations of its own keys, to connections that ask it for tracking. The
// connections of a client are the proxy's, and other nodes than the one asked would stay silent. So
// the proxy tracks, or it refuses.
bool Session::refuses_tracking(const Request& request) const {
  const bool turns_on = request.facts->asks_tracking && request.args().size() > 2 &&
                        equals_ignoring_case(request.args()[2], "on");
  return turns_on && parts_.shared.cluster.is_expected() && !near_mode_.is_on &&
         !may_track_here(request);
}

// The client has logged in before the server was known to be a node of a cluster, so its login is
// on one connection, to that node. Its password is not known any more.
Step Session::leave_bound() {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  reply_error(
      "ERR heatsink: the server is a node of a cluster, which was not known when this client "
      "logged in: connect again");
  close_when_flushed();
  return Step::kDone;
}

Step Session::run(Request& request) {
  if (NodeCommands::asks(request)) return NodeCommands(parts_, parts_.commands, *this).run(request);
  if (refuses_tracking(request)) return reply_error(kNoTracking);
  const bool may_scatter = request.facts->fan_out != nullptr && request.has_right_arity() &&
                           has_cluster() && !is_bound();
  if (may_scatter && ScatteredCommands::needs(request)) return scattered().run(request);
  switch (request.route) {
    case Route::kShared:
      return forward(request, false);
    case Route::kMaybeBlocking:
    case Route::kBlocking: {
      const bool blocks = request.route == Route::kBlocking || says_block(request.args());
      return blocks ? blocked().run(request) : forward(request, false);
    }
    case Route::kNoDb: {
      Step step = Step::kDone;
      Upstream* connection = servers_.own_in_any_db(request, step, true);
      return connection == nullptr ? no_connection(request, step) : send_on(*connection, request);
    }
    case Route::kPinned:
      if (const std::optional<Step> step = track_here(request)) return *step;
      // READONLY, READWRITE, ASKING: what one server says, for the proxy chooses the node.
      if (request.facts->chooses_node && has_cluster())
        return reply_error("ERR This instance has cluster support disabled");
      return forward(request, true);
    case Route::kPrivate:
      return forward(request, true);
    case Route::kDebug:
      return run_script_debug(request);
    case Route::kMulti:
      return transaction().multi(request);
    case Route::kWatch:
      return transaction().watch(request);
    case Route::kUnwatch:
      return transaction().unwatch(request);
    case Route::kExec:
    case Route::kDiscard:
      return forward(request, false);
    case Route::kWait:
      return blocked().run_wait(request);
    case Route::kSelect:
      return identity().select(request);
    case Route::kAuth:
      return identity().auth(request);
    case Route::kHello:
      return identity().hello(request);
    case Route::kQuit:
      return run_quit();
    case Route::kReset:
      return run_reset();
    case Route::kClient:
      return identity().client(request);
    case Route::kSubscribe:
      return subscriptions().run(request);
    case Route::kRaw:
      return raw_stream().begin(request);
  }
  return Step::kDone;
}

Step Session::dispatch_raw(Request& request) {
  if (!replicates_ && request.route == Route::kQuit) return run_quit();
  if (!replicates_ && request.route == Route::kReset) return run_reset();
  return raw_->take(request);
}

Step Session::forward(Request& request, bool own_connection, PartRequest of) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  Step step = Step::kDone;
  if (!own_connection) replies_ahead_.expect(request, parts_, db_);
  const bool is_big = request.raw.size() > parts_.shared.options().stream_threshold.count;
  const bool needs_own = own_connection || is_big || is_bound() || is_too_long_to_share(request);
  Upstream* connection = servers_.connection_for(request, needs_own, step);
  if (connection == nullptr) return no_connection(request, step);
  return send_on(*connection, request, of);
}

Step Session::send_on(Upstream& connection, Request& request, PartRequest of,
                      std::uint32_t number) {
  const bool pins = request.route == Route::kPinned && !pinned_;
  if (pins) servers_.pin();
  if (request.facts->scripts != ScriptUse::kNone && !in_multi_)
    effects().prepare_script(connection, request);
  const bool asks = request.has_waited() && request.waited_for().asking;
  if (asks && of != Transaction::of(Transaction::Asked::kExec)) connection.send_own({"ASKING"});
  // A client that tracks keys itself gets invalidations only for reads that reach the server.
  if (request.facts->asks_tracking) no_local_reads_ = true;
  if (in_multi_ && is_queued(request.route)) transaction_->count_queued();
  parts_.count(copies::Count::kCommands);
  parts_.count(own() != nullptr ? copies::Count::kForwardedPrivate
                                : copies::Count::kForwardedShared);
  ++traffic_.sent;
  const bool harmless = request.facts->reveals_no_key ||
                        (request.command != nullptr && request.command->has(resp::kReadonly));
  const bool is_own = &connection == own();
  Pending pending = make_pending(request, of, number, is_own);
  pending.rewritten =
      request.facts->shows_cluster && rewrites_for_cluster(request, of, parts_, *this);
  pending.pins = pins;
  pending.ticket = harmless ? output_.expect() : output_.expect_effect();
  pending.is_usual = of.part == SessionPart::kNone && !pending.silent && !pending.rewritten &&
                     !pins && pending.keys.size() <= 1 && pending.asked_right == nullptr &&
                     pending.spread == nullptr;
  if (!harmless) written_.note(connection.server());
  // On a private connection no other client waits for the reply, so only its known size counts: as
  // work and memory of the server.
  const ExpectedReply expected = request.expected;
  pending.expected = is_own ? expected.known : expected.counted;
  replies_ahead_.sent(pending.expected);
  connection.send(request.raw, std::move(pending));
  if (parts_.key_refs.size() > 1) follow_alone();
  return Step::kDone;
}

// While slots move, a command with several keys may have to wait (TRYAGAIN), and the server would
// execute those behind it before.
void Session::follow_alone() {
  if (parts_.shared.cluster.has_moves(parts_.loop.now())) stall(Awaited::kAnswer);
}

Pending Session::make_pending(Request& request, PartRequest of, std::uint32_t number,
                              bool on_private) {
  Pending pending;
  pending.session = this;
  if (of.part == SessionPart::kSubscriptions) pending.kind = PendingKind::kSubscribe;
  pending.of = of;
  pending.number = number;
  pending.silent = take_silence();
  pending.reply_of = request.reply_of.value;
  pending.sized_as = in_multi_ ? 0 : request.facts->sized_as;
  pending.asked_right = std::move(request.asked_right);
  pending.read_only = request.command != nullptr && request.command->has(resp::kReadonly);
  pending.reveals_keys = !request.facts->reveals_no_key;
  const bool executes = !in_multi_ || request.route == Route::kExec;
  if (executes && in_multi_) transaction_->move_effects_to(pending);
  effects().note_keys(request, pending);
  // A blocking command may wait for minutes and must not hold back copies: its reply raises the
  // fence.
  if (executes && request.route != Route::kBlocking)
    parts_.copies.begin_writes(pending, on_private);
  return pending;
}

// ---- runs of plain requests (plain_runs.h)

std::size_t Session::take_run(std::string_view bytes, TimePoint now) {
  if (near_mode_.is_on) [[unlikely]]
    return take_cached_read(bytes, now);
  struct ThisSession {
    bool may_go_on() const { return session.may_parse(); }
    bool takes_gets() const {
      return !session.is_raw() && session.input_.is_at_start() && session.user_ == User::kShared &&
             session.own() == nullptr && !session.reply_off_ && !session.reply_skip_;
    }
    bool takes_sets() const { return takes_gets() && !session.has_listeners(); }
    // As forward() would choose it.
    Upstream* ready_connection(Request& request) const {
      session.replies_ahead_.expect(request, session.parts_, session.db_);
      const bool is_long = session.is_too_long_to_share(request);
      return is_long ? nullptr : session.servers_.ready_shared(request);
    }
    void send(Upstream& connection, Request& request) const {
      session.send_on(connection, request);
    }

    Session& session;
  };
  return PlainRuns(parts_, reliefs_, output_, ThisSession{*this}).take(bytes, now);
}

// ---- requests of more than proxy.stream-threshold, which pass to the client's own connection as
// they come (oversized_request.h)

// Called once the route is known. The connection that carries the request is not given back before
// the request ends (has_state()).
Step Session::take_oversized(Request& request) {
  request.command = request.args().empty() ? nullptr : parts_.commands.find(request.args());
  request.route =
      request.command != nullptr ? parts_.commands.facts(*request.command).route : Route::kPinned;
  const OversizedRequest::Beginning beginning =
      OversizedRequest::judge(request.command, request.route, request.args().size());
  Step step = Step::kDone;
  Upstream* const connection = connection_for_oversized(request, beginning, step);
  if (step == Step::kStall) return step;
  reliefs_.ended(connection != nullptr);
  input_.begin_oversized(connection != nullptr ? OversizedRequest::Fate::kSent
                                               : OversizedRequest::Fate::kDropped);
  if (connection == nullptr) return step;
  // The client has ended its output, so the rest cannot come.
  if (presence_ != Presence::kHere) host_.call_later(*this, kStreamEndTime, &Session::end_stream);
  const bool may_read = request.command == nullptr || request.command->has(resp::kReadonly);
  if (!beginning.keys_known) request.command = nullptr;
  step = send_on(*connection, request);
  if (near_mode_.is_on && may_read) near().read_unknown();
  return step;
}

// Null: `step` says whether the request waits, or was refused.
Upstream* Session::connection_for_oversized(Request& request,
                                            const OversizedRequest::Beginning& beginning,
                                            Step& step) {
  if (!beginning.may_be_sent || is_raw()) {
    step = reply_error(
        "ERR heatsink: this command is larger than proxy.stream-threshold, which it may not be");
    return nullptr;
  }
  if (in_multi_ && transaction_failed()) {
    step = reply_error(transaction_->refusal());
    return nullptr;
  }
  if (beginning.keys_known) {
    if (const Outcome admitted = reliefs_.departs_in_part(request); admitted != Outcome::kPass) {
      step = step_of(admitted);
      return nullptr;
    }
  }
  Upstream* const connection = servers_.own_for(request, step);
  if (connection == nullptr) step = no_connection(request, step);
  return connection;
}

void Session::send_rest(std::string_view bytes) {
  if (own() != nullptr) own()->send_more(bytes);
}

void Session::rest_is_broken() {
  parts_.count(copies::Count::kProtocolErrors);
  close();
}

}  // namespace heatsink::proxy
