// SPDX-License-Identifier: Apache-2.0
// What becomes of one request: served locally, sent on a lane, or handled here.
#include <algorithm>
#include <utility>

#include "heatsink/base/hash_inline.h"
#include "heatsink/detect/heartbeat_key.h"
#include "heatsink/proxy/ascii.h"
#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

// More keys than this in one transaction: it counts as one that touches any key.
constexpr std::size_t kTransactionKeysMax = 10'000;

bool says_block(const std::vector<std::string_view>& args) {
  return std::any_of(args.begin() + 1, args.end(),
                     [](std::string_view arg) { return equals_ignoring_case(arg, "block"); });
}

// Inside MULTI.
bool is_queued(Route route) {
  return route != Route::kExec && route != Route::kDiscard && route != Route::kMulti &&
         route != Route::kWatch;
}

}  // namespace

Session::Step Session::dispatch(Call call) {
  call.command = worker_.commands().find(call.args);
  if (call.command != nullptr) {
    call.facts = &worker_.facts(*call.command);
    call.route = call.facts->route;
    if (call.facts->uses_scripts) has_scripts_ = true;
  }
  return is_limited() ? dispatch_limited(call) : carry_out(call);
}

Session::Step Session::carry_out(Call call) {
  if (worker_.coalescing() != nullptr) {
    if (const std::optional<Step> step = try_coalesce(call)) return *step;
  }
  if (mode_ == Mode::kRaw) return dispatch_raw(call);
  if (call.command == nullptr && is_ours(call)) return run_ours(call);
  if (call.facts->local != nullptr && reads_locally(call)) return read_locally(call);
  const bool refused = call.command == nullptr || !call.has_right_arity();
  // It will change nothing; but a refused EXEC ends its transaction.
  const bool ends = in_multi_ && call.route == Route::kExec;
  if (refused && call.command != nullptr && !ends) call.route = Route::kShared;
  if (user_ == User::kNobody) {
    // The server looks whether there is such a command before it asks who wants to know.
    if (refused) {
      call.route = Route::kPrivate;
    } else if (!call.command->has(resp::kNoAuth)) {
      return reply_error("NOAUTH Authentication required.");
    }
  }
  return in_multi_ ? in_transaction(call) : run(call);
}

Session::Step Session::run(const Call& call) {
  switch (call.route) {
    case Route::kShared:
      return forward(call, false);
    case Route::kMaybeBlocking:
    case Route::kBlocking: {
      const bool blocks = call.route == Route::kBlocking || says_block(call.args);
      return blocks ? forward_waiting(call) : forward(call, false);
    }
    case Route::kNoDb: {
      Step step = Step::kDone;
      Upstream* lane = private_in_any_db(step, true);
      return lane == nullptr ? no_lane(step) : send_on(*lane, call, PendingKind::kForward, 0);
    }
    case Route::kPrivate:
    case Route::kPinned:
      return forward(call, true);
    case Route::kDebug:
      return run_script_debug(call);
    case Route::kEval:
      return debugger_ == Debugger::kOff ? forward(call, true) : run_in_debugger(call);
    case Route::kMulti:
      return run_multi(call);
    case Route::kWatch:
      return run_watch(call);
    case Route::kUnwatch:
      return run_unwatch(call);
    case Route::kExec:
    case Route::kDiscard:
      return forward(call, false);
    case Route::kWait:
      return run_wait(call);
    case Route::kSelect:
      return run_select(call);
    case Route::kAuth:
      return run_auth(call);
    case Route::kHello:
      return run_hello(call);
    case Route::kQuit:
      return run_quit();
    case Route::kReset:
      return run_reset();
    case Route::kClient:
      return run_client(call);
    case Route::kSubscribe:
      return run_subscribe(call);
    case Route::kRaw:
      return run_raw(call);
  }
  return Step::kDone;
}

// Nothing tells when a write behind a MONITOR stream has been done, so no fence could be raised for
// it.
Session::Step Session::dispatch_raw(const Call& call) {
  if (debugger_ != Debugger::kOff) return tell_debugger(call);
  if (call.route == Route::kQuit) return run_quit();
  if (call.route == Route::kReset) return run_reset();
  const bool harmless = call.command != nullptr &&
                        !call.command->has(resp::kWrite | resp::kMayReplicate | resp::kNoMulti) &&
                        (call.route == Route::kShared || call.command->name == "replconf");
  if (!harmless) {
    return reply_error(
        "ERR heatsink: a connection in MONITOR or replication mode accepts only reads, PING, RESET "
        "and QUIT");
  }
  if (private_) private_->send_more(call.raw);
  return Step::kDone;
}

Session::Step Session::forward(const Call& call, bool own_lane, PendingKind kind,
                               std::uint32_t number) {
  Step step = Step::kDone;
  if (is_limited() && !admit(call, Door::kUpstream, step)) return step;
  if (!own_lane) expect_reply(call);
  const bool own = own_lane || user_ == User::kOther || is_too_long_to_share(call);
  Upstream* lane = lane_for(own, step);
  if (lane == nullptr) return no_lane(step);
  return send_on(*lane, call, kind, number);
}

Session::Step Session::send_on(Upstream& lane, const Call& call, PendingKind kind,
                               std::uint32_t number) {
  if (call.route == Route::kPinned) pin();
  if (call.facts->asks_tracking) server_knows_best_ = true;
  if (in_multi_ && is_queued(call.route)) ++transaction_queued_;
  worker_.count().add(Count::kCommands);
  worker_.count().add(private_ ? Count::kForwardedPrivate : Count::kForwardedShared);
  ++sent_;
  const bool harmless =
      call.facts->tells_nothing || (call.command != nullptr && call.command->has(resp::kReadonly));
  if (!harmless) last_effect_ = sent_;
  Pending pending = make_pending(call, kind, number);
  // On a private connection a client waits for itself alone, but what it asks for at once is work
  // and memory of the server's.
  const ExpectedReply expected = std::exchange(expected_, {});
  pending.expected = &lane == private_.get() ? expected.known : expected.counted;
  owed_ += pending.expected;
  lane.send(call.raw, std::move(pending));
  return Step::kDone;
}

Pending Session::make_pending(const Call& call, PendingKind kind, std::uint32_t number) {
  Pending pending;
  pending.session = this;
  pending.kind = kind;
  pending.number = number;
  pending.silent = take_silence();
  pending.reply_of = reply_of_.value;
  pending.sized_as = in_multi_ ? 0 : call.facts->sized_as;
  pending.proves = std::move(proves_);
  pending.read_only = call.command != nullptr && call.command->has(resp::kReadonly);
  pending.tells = !call.facts->tells_nothing;
  const bool executes = !in_multi_ || call.route == Route::kExec;
  if (executes && in_multi_) {
    pending.keys = std::move(transaction_);
    pending.unknown_keys = transaction_unknown_;
    pending.flush = transaction_flush_;
    pending.changes_access = transaction_changes_access_;
    // They have been forgotten if what was queued has been answered before EXEC came.
    pending.keys.for_each([this](const TouchedKey& key) {
      in_flight_names_.set(key.name.value % in_flight_names_.size());
    });
    if (pending.unknown_keys) in_flight_names_.set();
  }
  note_keys(call, pending);
  if (executes && call.route != Route::kBlocking) worker_.begin_writes(pending);
  return pending;
}

NameHash Session::name_hash(const Call& call, std::size_t arg) const {
  return arg == 1 && call.first_name ? *call.first_name
                                     : hash_name_inline(call.args[arg], worker_.shared().seed);
}

// Inside MULTI the keys are kept for EXEC: that is when the server runs the commands.
void Session::note_keys(const Call& call, Pending& pending) {
  std::vector<resp::KeyRef>& refs = worker_.key_refs();
  refs.clear();
  const resp::Keys keys = call.command == nullptr ? resp::Keys::kUnknown
                                                  : resp::find_keys(*call.command, call.args, refs);
  const CommandFacts& facts = *call.facts;
  const bool unknown = keys != resp::Keys::kKnown || facts.runs_code || facts.changes_rights;
  const bool flush =
      facts.changes_rights || (keys == resp::Keys::kUnknown && facts.hides_invalidations);
  const bool queued = in_multi_ && call.route != Route::kExec && call.route != Route::kDiscard;
  (queued ? transaction_unknown_ : pending.unknown_keys) |= unknown;
  (queued ? transaction_flush_ : pending.flush) |= flush;
  (queued ? transaction_changes_access_ : pending.changes_access) |= facts.changes_access;
  if (unknown) in_flight_names_.set();
  // Of a write each key has its part of the request.
  const auto written = static_cast<std::uint32_t>(
      std::min<std::size_t>(call.raw.size() / std::max<std::size_t>(refs.size(), 1), UINT32_MAX));
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = call.args[ref.arg];
    const NameHash name = name_hash(call, ref.arg);
    const KeyHash hash = in_db(name, db_);
    in_flight_names_.set(name.value % in_flight_names_.size());
    // A tracking connection of another proxy, or of the library, may come through this one.
    const bool is_heartbeat = server_knows_best_ && detect::is_heartbeat_key(key);
    if (!is_heartbeat) {
      worker_.record({.hash = hash,
                      .key = key,
                      .db = db_,
                      .kind = ref.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead,
                      .local_hit = false,
                      .bytes = ref.write ? written : worker_.last_reply_bytes(hash),
                      .command = facts.number,
                      .client = address_});
    }
    if (queued && transaction_.size() >= kTransactionKeysMax) {
      transaction_unknown_ = true;
    } else {
      // With the database in doubt the name is fenced in all, as for a write.
      (queued ? transaction_ : pending.keys).add({name, hash, ref.write || server_knows_best_});
    }
  }
}

}  // namespace heatsink::proxy
