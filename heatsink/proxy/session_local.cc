// SPDX-License-Identifier: Apache-2.0
// Reads answered from local copies: whole, from as many copies as there are keys, or not at all.
#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/base/hash_inline.h"
#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

Count count_of(cache::Ruling refusal) {
  switch (refusal) {
    case cache::Ruling::kNoCopy:
      return Count::kRefusedNoCopy;
    case cache::Ruling::kGeneration:
      return Count::kRefusedGeneration;
    case cache::Ruling::kDeadline:
      return Count::kRefusedDeadline;
    case cache::Ruling::kUnproven:
      return Count::kRefusedUnproven;
    case cache::Ruling::kFence:
      return Count::kRefusedFence;
    case cache::Ruling::kWriteInFlight:
      return Count::kRefusedWriteInFlight;
    case cache::Ruling::kSessionFence:
      return Count::kRefusedSessionFence;
    case cache::Ruling::kServe:
      break;
  }
  return Count::kLocalHits;
}

// ":n\r\n", as a copy of EXISTS has it.
std::uint64_t number_in(std::string_view wire) { return wire == ":0\r\n" ? 0 : 1; }

// REQUIRES keys behind the name of the command.
bool in_one_slot(const std::vector<std::string_view>& args) {
  const std::uint16_t slot = resp::key_slot(args[1]);
  return std::all_of(args.begin() + 2, args.end(),
                     [&](std::string_view key) { return resp::key_slot(key) == slot; });
}

}  // namespace

bool Session::reads_locally(const Request& request) const {
  return request.has_right_arity() && !in_multi_ && !watching_ && !server_knows_best_ &&
         user_ != User::kNobody && holds_ == 0 &&
         !(subscribed() && protocol_ == resp::Protocol::kResp2);
}

std::shared_ptr<const FillAnswer> Session::take_answer(Request& request) {
  return request.has_waited() ? std::exchange(request.waited().answer, nullptr) : nullptr;
}

Session::Step Session::read_locally(Request& request) {
  const Join join = request.facts->local->join;
  const bool many = join == Join::kArray || (join == Join::kSum && request.args().size() > 2);
  return many ? read_many(request) : read_one(request);
}

Session::LocalKey Session::local_key(std::string_view key) const {
  const SharedState& shared = worker_.shared();
  const NameHash name = hash_name_inline(key, shared.seed);
  const KeyHash hash = in_db(name, db_);
  const bool in_flight = in_flight_names_.test(name.value % in_flight_names_.size());
  return {key, name, hash, in_flight ? nullptr : worker_.copies().find(hash, key, db_)};
}

cache::Ruling Session::judge(LocalKey& key, const cache::Read& read, TimePoint now) const {
  const cache::Judgement judgement = worker_.copies().judge(*key.entry, read, now, told_at_);
  key.copy = judgement.copy;
  return judgement.ruling;
}

// ---- other users than the proxy's own: each read must have been the server's to allow

Right Session::right_to(const Request& request, std::span<const LocalKey> keys) const {
  Right right{user_hash_, 0, request.facts->local->number};
  for (const LocalKey& key : keys) right.add_key(key.hash);
  return right;
}

bool Session::may_read(const Request& request, std::span<const LocalKey> keys) {
  const Right right = right_to(request, keys);
  switch (worker_.proofs().ask(right, request.now, worker_.shared().rights_changed_at())) {
    case Proofs::Word::kUnproven:
      worker_.count().add(Count::kRefusedRights);
      return false;
    case Proofs::Word::kAgeing:
      renew_proof(request, right);
      break;
    case Proofs::Word::kProven:
      break;
  }
  return true;
}

// The read itself, by this user; its answer is the client's, and proves that he may.
Session::Step Session::forward_to_prove(Request& request, std::span<const LocalKey> keys) {
  if (request.has_waited()) request.waited().answer = nullptr;
  request.proves = std::make_unique<AskedRight>(AskedRight{right_to(request, keys), request.now});
  const Step step = forward(request, false);
  request.proves = nullptr;
  return step;
}

// Once more beside the hits, and nobody is shown the answer: so it raises no fence, and the copies
// live on.
void Session::renew_proof(const Request& request, const Right& right) {
  const bool free = private_ && private_->ready() && !wait_ && (pinned_ || private_->db() == db_) &&
                    private_->unsent() == 0;
  if (!free) return;
  worker_.count().add(Count::kProofsRenewed);
  Pending pending;
  pending.kind = PendingKind::kOwn;
  pending.proves = std::make_unique<AskedRight>(AskedRight{right, request.now});
  private_->send(request.raw, std::move(pending));
}

// ---- level session: no read is older than what the client was told before (coherence.md)

// What is in flight may be executed after the copy was proven, and its reply comes before.
bool Session::overtakes(const LocalKey& key) const {
  return in_flight() > 0 && key.entry->terms().level == cache::Level::kSession;
}

// Its answer must not be behind what the server has said, nor behind any copy that was served.
TimePoint Session::fill_after(const cache::Entry& entry) const {
  if (entry.terms().level != cache::Level::kSession) return TimePoint{};
  return std::max(told_at_, worker_.copies().shown());
}

// One question to the server proves all copies, for all sessions that wait.
Session::Step Session::await_proof(Request& request) {
  const bool is_proven =
      request.has_waited() && request.waited().barrier == Request::Waited::Barrier::kPassed;
  if (is_proven || !worker_.copies().are_proven()) return forward(request, false);
  worker_.count().add(Count::kProofsAwaited);
  return await_barrier(request, Stall::kProof);
}

// ---- one key

Session::Step Session::read_one(Request& request) {
  LocalKey key = local_key(request.args()[1]);
  request.first_name = key.name;
  if (user_ == User::kOther && key.entry != nullptr && !may_read(request, {&key, 1}))
    return forward_to_prove(request, {&key, 1});
  const cache::Read read = request.read();
  const bool resp3 = protocol_ == resp::Protocol::kResp3;
  // The read may have joined a fill whose value had ended by then; it wants a later one.
  const std::shared_ptr<const FillAnswer> answer = take_answer(request);
  const bool too_old =
      answer && answer->usable && answer->value_ends <= request.waited().fill_wanted_at;
  if (answer && !too_old) {
    if (!may_be_given(*answer, request.now) || answer->key != key.hash || !answer->read.is(read))
      return serve_in_outage(request, key, read) ? Step::kDone
                                                 : forward_seen(request, answer->which);
    record_hit(request, key, answer->reply.size());
    serve(answer->reply_in(resp3));
    return Step::kDone;
  }
  if (key.entry == nullptr || overtakes(key)) return forward(request, false);
  const cache::Ruling ruling = judge(key, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    worker_.count_hit(*request.facts->local);
    worker_.copies().consider_audit(*key.entry, *key.copy, request.now);
    if (!read.arguments.empty()) worker_.copies().count_hit_among_many(key.hash);
    key.copy->mark_read();
    const std::string_view wire = key.copy->reply_in(resp3);
    record_hit(request, key, wire.size());
    serve(wire);
    return Step::kDone;
  }
  worker_.count().add(count_of(ruling));
  if (serve_in_outage(request, key, read)) return Step::kDone;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  if (!worth_keeping(read)) return forward(request, false);
  const ReadHash which = hash_read(key.hash, read);
  const bool fills = ruling != cache::Ruling::kWriteInFlight &&
                     (ruling != cache::Ruling::kUnproven || outlives_errors(*key.entry)) &&
                     worker_.copies().may_fill(*key.entry, which, read, worker_.loop().now());
  Step step = Step::kDone;
  if (fills && is_limited() && !may_fill(request, {&key, 1}, read, step)) return step;
  if (!fills) return forward_seen(request, which);
  TimePoint after = fill_after(*key.entry);
  TimePoint& wanted_at = request.waited().fill_wanted_at;
  if (too_old) {
    after = std::max(after, wanted_at);
  } else {
    wanted_at = request.now;
  }
  const bool waits =
      worker_.copies().join_fill(id_, *key.entry, which, read, after) != FillWaiters::Join::kFull;
  return waits ? stall(Stall::kFill) : forward_seen(request, which);
}

// ---- the server cannot be reached, and the key's rule has something to say about that

// Such a read does not go to a server that has stopped proving itself, where it might wait for
// long: it waits for the keeper to find out.
bool Session::outlives_errors(const cache::Entry& entry) {
  return entry.terms().stale_while_error > Nanos(0);
}

bool Session::serve_in_outage(const Request& request, LocalKey& key, const cache::Read& read) {
  if (key.entry == nullptr || !outlives_errors(*key.entry)) return false;
  key.copy = worker_.copies().judge_in_outage(*key.entry, read, request.now).copy;
  if (key.copy == nullptr) return false;
  worker_.count_hit(*request.facts->local);
  worker_.count().add(Count::kOutageHits);
  const std::string_view wire = key.copy->reply_in(protocol_ == resp::Protocol::kResp3);
  record_hit(request, key, wire.size());
  serve(wire);
  return true;
}

// Messages may have come while it waited.
bool Session::may_be_given(const FillAnswer& answer, TimePoint now) const {
  const bool ordered = answer.terms.level == cache::Level::kSession;
  return answer.usable && now - answer.sent_at <= answer.terms.max_staleness &&
         (!ordered || answer.sent_at > told_at_);
}

// To the server, and the doorkeeper hears how long the reply is.
Session::Step Session::forward_seen(Request& request, ReadHash which) {
  request.reply_of = which;
  const Step step = forward(request, false);
  request.reply_of = {};
  return step;
}

// ---- several keys

// All from copies that were right at one and the same moment, or none: a client may rely on MGET
// being atomic (docs/decisions/0009-several-keys-at-one-moment.md).
Session::Step Session::read_many(Request& request) {
  const bool waited = take_answer(request) != nullptr;
  const std::size_t count = request.args().size() - 1;
  const bool cluster = worker_.shared().is_cluster_node.load(std::memory_order_relaxed);
  if (count > kJoinedKeysMax || (cluster && !in_one_slot(request.args())))
    return forward(request, false);
  const cache::Read read{read_of_each(*request.facts->local).number, {}};
  std::vector<LocalKey> keys;
  keys.reserve(count);
  for (const std::string_view name : std::span(request.args()).subspan(1)) {
    keys.push_back(local_key(name));
    if (keys.back().entry == nullptr || overtakes(keys.back())) return forward(request, false);
  }
  if (user_ == User::kOther && !may_read(request, keys)) return forward_to_prove(request, keys);
  const cache::Ruling ruling = judge_all(keys, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    worker_.count_hit(*request.facts->local);
    consider_audits(request, keys);
    serve_joined(request, keys);
    return Step::kDone;
  }
  worker_.count().add(count_of(ruling));
  if (serve_many_in_outage(request, keys, read)) return Step::kDone;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  const bool in_vain = waited || ruling == cache::Ruling::kWriteInFlight ||
                       (ruling == cache::Ruling::kUnproven && !outlive_errors(keys));
  if (in_vain) return forward(request, false);
  if (Step step = Step::kDone; is_limited() && !may_fill_missing(request, keys, read, step))
    return step;
  if (join_fills(keys, read, request.now)) return stall(Stall::kFill);
  return forward(request, false);
}

// The first refusal, or kServe. Judged twice: a copy that is there both times was there between
// them, which is one moment for all.
template <class JudgeOne>
cache::Ruling Session::judge_twice(std::vector<LocalKey>& keys, JudgeOne judge_one) {
  for (LocalKey& key : keys) {
    const cache::Ruling ruling = judge_one(key);
    if (ruling != cache::Ruling::kServe) return ruling;
  }
  for (LocalKey& key : keys) {
    const cache::Copy* first = key.copy;
    const cache::Ruling ruling = judge_one(key);
    if (ruling != cache::Ruling::kServe) return ruling;
    if (key.copy != first) return cache::Ruling::kFence;  // written and filled again meanwhile
  }
  return cache::Ruling::kServe;
}

cache::Ruling Session::judge_all(std::vector<LocalKey>& keys, const cache::Read& read,
                                 TimePoint now) const {
  return judge_twice(keys, [&](LocalKey& key) { return judge(key, read, now); });
}

bool Session::outlive_errors(const std::vector<LocalKey>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [](const LocalKey& key) { return outlives_errors(*key.entry); });
}

// The moment that they share is the last word of the tracker: what it had not taken back by then
// was right together. A key whose rule does not outlast errors is judged as ever, so that one of
// level ttl may be among them.
bool Session::serve_many_in_outage(const Request& request, std::vector<LocalKey>& keys,
                                   const cache::Read& read) {
  if (worker_.copies().are_proven()) return false;
  const auto judge_one = [&](LocalKey& key) {
    if (!outlives_errors(*key.entry)) return judge(key, read, request.now);
    const cache::Judgement judgement =
        worker_.copies().judge_in_outage(*key.entry, read, request.now);
    key.copy = judgement.copy;
    return judgement.ruling;
  };
  if (judge_twice(keys, judge_one) != cache::Ruling::kServe) return false;
  worker_.count_hit(*request.facts->local);
  worker_.count().add(Count::kOutageHits);
  serve_joined(request, keys);
  return true;
}

// Asks for all copies that are missing and waits for the last: the tracker answers in order. False:
// that would be in vain.
bool Session::join_fills(const std::vector<LocalKey>& keys, const cache::Read& read,
                         TimePoint now) {
  const LocalKey* last = nullptr;
  const auto missing = [&](LocalKey key) { return judge(key, read, now) != cache::Ruling::kServe; };
  for (const LocalKey& key : keys) {
    if (missing(key) && !worker_.copies().may_fill(*key.entry, hash_read(key.hash, read), read,
                                                   worker_.loop().now()))
      return false;
  }
  for (const LocalKey& key : keys) {
    if (!missing(key)) continue;
    const FillWaiters::Join join = worker_.copies().join_fill(
        FillWaiters::kNobody, *key.entry, hash_read(key.hash, read), read, fill_after(*key.entry));
    if (join == FillWaiters::Join::kFull) return false;
    if (last == nullptr || join == FillWaiters::Join::kAskKeeper) last = &key;
  }
  return last != nullptr &&
         worker_.copies().join_fill(id_, *last->entry, hash_read(last->hash, read), read,
                                    fill_after(*last->entry)) != FillWaiters::Join::kFull;
}

void Session::consider_audits(const Request& request, const std::vector<LocalKey>& keys) {
  for (const LocalKey& key : keys)
    worker_.copies().consider_audit(*key.entry, *key.copy, request.now);
}

void Session::serve_joined(const Request& request, const std::vector<LocalKey>& keys) {
  const bool resp3 = protocol_ == resp::Protocol::kResp3;
  ByteBuffer wire;
  std::uint64_t sum = 0;
  const Join join = request.facts->local->join;
  if (join == Join::kArray) resp::append_array_header(wire, static_cast<std::int64_t>(keys.size()));
  for (const LocalKey& key : keys) {
    const std::string_view reply = key.copy->reply_in(resp3);
    key.copy->mark_read();
    record_hit(request, key, reply.size());
    if (join == Join::kArray) {
      wire.append(reply);
    } else {
      sum += number_in(reply);
    }
  }
  if (join == Join::kSum) resp::append_integer(wire, static_cast<std::int64_t>(sum));
  serve(wire.view());
}

// ---- out

void Session::record_hit(const Request& request, const LocalKey& key, std::size_t bytes) {
  worker_.record({.hash = key.hash,
                  .key = key.key,
                  .db = db_,
                  .kind = detect::AccessKind::kRead,
                  .local_hit = true,
                  .bytes = static_cast<std::uint32_t>(bytes),
                  .command = request.facts->number,
                  .client = address_});
}

void Session::serve(std::string_view wire) {
  worker_.count().add(Count::kCommands);
  if (take_silence()) return;
  add_reply(wire);
}

}  // namespace heatsink::proxy
