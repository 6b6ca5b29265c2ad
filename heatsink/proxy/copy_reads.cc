// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/copy_reads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/base/hash_inline.h"

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

// More than one value is asked for, each of which has a copy of its own.
bool is_of_many(const Request& request) {
  const Join join = request.facts->local->join;
  return join == Join::kArray || (join == Join::kSum && request.args().size() > 2);
}

}  // namespace

bool CopyReads::may_read_copies() const {
  return !state_.in_multi_ && !state_.watching_ &&
         !state_.server_knows_best_ && state_.user_ != ClientState::User::kNobody &&
         traffic_.holds == 0 &&
         !(state_.subscribed() && state_.protocol_ == resp::Protocol::kResp2);
}

std::shared_ptr<const FillAnswer> CopyReads::take_answer(Request& request) {
  return request.has_waited() ? std::exchange(request.waited().answer, nullptr) : nullptr;
}

Outcome CopyReads::look(Request& request) {
  request.reply_of = {};
  request.proves = nullptr;
  return is_of_many(request) ? read_many(request) : read_one(request);
}

CopyReads::LocalKey CopyReads::local_key(std::string_view key) const {
  const SharedState& shared = parts_.shared;
  const NameHash name = hash_name_inline(key, shared.seed);
  const KeyHash hash = in_db(name, state_.db_);
  const bool in_flight = traffic_.touches(name);
  return {key, name, hash, in_flight ? nullptr : parts_.copies.find(hash, key, state_.db_)};
}

cache::Ruling CopyReads::judge(LocalKey& key, const cache::Read& read, TimePoint now) const {
  const cache::Judgement judgement = parts_.copies.judge(*key.entry, read, now, traffic_.told_at);
  key.copy = judgement.copy;
  return judgement.ruling;
}

// ---- other users than the proxy's own: each read must have been the server's to allow

Right CopyReads::right_to(const Request& request, std::span<const LocalKey> keys) const {
  Right right{state_.user_hash_, 0, request.facts->local->number};
  for (const LocalKey& key : keys) right.add_key(key.hash);
  return right;
}

bool CopyReads::may_read(const Request& request, std::span<const LocalKey> keys) {
  const Right right = right_to(request, keys);
  switch (parts_.proofs.ask(right, request.now, parts_.shared.rights_changed_at())) {
    case Proofs::Word::kUnproven:
      parts_.count(Count::kRefusedRights);
      return false;
    case Proofs::Word::kAgeing:
      session_.renew_proof(request, right);
      break;
    case Proofs::Word::kProven:
      break;
  }
  return true;
}

// The read itself, by this user; its answer is the client's, and proves that he may.
Outcome CopyReads::pass_to_prove(Request& request, std::span<const LocalKey> keys) const {
  if (request.has_waited()) request.waited().answer = nullptr;
  request.proves = std::make_unique<AskedRight>(AskedRight{right_to(request, keys), request.now});
  return Outcome::kPass;
}

// ---- level session: no read is older than what the client was told before (coherence.md)

// What is in flight may be executed after the copy was proven, and its reply comes before.
bool CopyReads::overtakes(const LocalKey& key) const {
  return traffic_.in_flight() > 0 && key.entry->terms().level == cache::Level::kSession;
}

// Its answer must not be behind what the server has said, nor behind any copy that was served.
TimePoint CopyReads::fill_after(const cache::Entry& entry) const {
  if (entry.terms().level != cache::Level::kSession) return TimePoint{};
  return std::max(traffic_.told_at, parts_.copies.shown());
}

// One question to the server proves all copies, for all sessions that wait.
Outcome CopyReads::await_proof(Request& request) {
  const bool is_proven =
      request.has_waited() && request.waited().barrier == Request::Waited::Barrier::kPassed;
  if (is_proven || !parts_.copies.are_proven()) return Outcome::kPass;
  parts_.count(Count::kProofsAwaited);
  session_.await_barrier(request, Awaited::kProof);
  return Outcome::kWaits;
}

// ---- one key

Outcome CopyReads::read_one(Request& request) {
  LocalKey key = local_key(request.args()[1]);
  request.first_name = key.name;
  if (state_.user_ == ClientState::User::kOther && key.entry != nullptr &&
      !may_read(request, {&key, 1}))
    return pass_to_prove(request, {&key, 1});
  const cache::Read read = request.read();
  const bool resp3 = state_.protocol_ == resp::Protocol::kResp3;
  // The read may have joined a fill whose value had ended by then; it wants a later one.
  const std::shared_ptr<const FillAnswer> answer = take_answer(request);
  const bool too_old =
      answer && answer->usable && answer->value_ends <= request.waited().fill_wanted_at;
  if (answer && !too_old) {
    if (!may_be_given(*answer, request.now) || answer->key != key.hash || !answer->read.is(read))
      return serve_in_outage(request, key, read) ? Outcome::kAnswered
                                                 : pass_seen(request, answer->which);
    record_hit(*request.facts, key, answer->reply.size());
    session_.serve(answer->reply_in(resp3));
    return Outcome::kAnswered;
  }
  if (key.entry == nullptr || overtakes(key)) return Outcome::kPass;
  const cache::Ruling ruling = judge(key, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    parts_.count_hit(*request.facts->local);
    parts_.copies.consider_audit(*key.entry, *key.copy, request.now);
    if (!read.arguments.empty()) parts_.copies.count_hit_among_many(key.hash);
    key.copy->mark_read();
    const std::string_view wire = key.copy->reply_in(resp3);
    record_hit(*request.facts, key, wire.size());
    session_.serve(wire);
    return Outcome::kAnswered;
  }
  parts_.count(count_of(ruling));
  if (serve_in_outage(request, key, read)) return Outcome::kAnswered;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  return worth_keeping(read) ? fill_one(request, key, read, ruling, too_old) : Outcome::kPass;
}

// `is_too_late`: it has joined a fill whose value had ended by then.
Outcome CopyReads::fill_one(Request& request, const LocalKey& key, const cache::Read& read,
                            cache::Ruling ruling, bool is_too_late) {
  const ReadHash which = hash_read(key.hash, read);
  const bool fills = ruling != cache::Ruling::kWriteInFlight &&
                     (ruling != cache::Ruling::kUnproven || outlives_errors(*key.entry)) &&
                     parts_.copies.may_fill(*key.entry, which, read, parts_.loop.now());
  if (fills) {
    const Outcome admitted = admit_fills(request, {&key, 1}, read);
    if (admitted != Outcome::kPass) return admitted;
  }
  if (!fills) return pass_seen(request, which);
  TimePoint after = fill_after(*key.entry);
  TimePoint& wanted_at = request.waited().fill_wanted_at;
  if (is_too_late) {
    after = std::max(after, wanted_at);
  } else {
    wanted_at = request.now;
  }
  if (parts_.copies.join_fill(id_, *key.entry, which, read, after) == FillWaiters::Join::kFull)
    return pass_seen(request, which);
  session_.await(Awaited::kFill);
  return Outcome::kWaits;
}

// Once for all who wait for the same.
Outcome CopyReads::admit_fills(Request& request, std::span<const LocalKey> missing,
                               const cache::Read& read) {
  if (gate_ == nullptr) return Outcome::kPass;
  std::vector<AskedKey> keys;
  for (const LocalKey& key : missing) {
    const bool joins =
        parts_.copies.joins_fill(*key.entry, hash_read(key.hash, read), fill_after(*key.entry));
    if (!joins) keys.push_back({key.key, key.hash, false});
  }
  return gate_->admit_fill(request, keys);
}

// ---- the server cannot be reached, and the key's rule has something to say about that

// Such a read does not go to a server that has stopped proving itself, where it might wait for
// long: it waits for the keeper to find out.
bool CopyReads::outlives_errors(const cache::Entry& entry) {
  return entry.terms().stale_while_error > Nanos(0);
}

bool CopyReads::serve_in_outage(const Request& request, LocalKey& key, const cache::Read& read) {
  if (key.entry == nullptr || !outlives_errors(*key.entry)) return false;
  key.copy = parts_.copies.judge_in_outage(*key.entry, read, request.now).copy;
  if (key.copy == nullptr) return false;
  parts_.count_hit(*request.facts->local);
  parts_.count(Count::kOutageHits);
  const std::string_view wire = key.copy->reply_in(state_.protocol_ == resp::Protocol::kResp3);
  record_hit(*request.facts, key, wire.size());
  session_.serve(wire);
  return true;
}

// Messages may have come while it waited.
bool CopyReads::may_be_given(const FillAnswer& answer, TimePoint now) const {
  const bool ordered = answer.terms.level == cache::Level::kSession;
  return answer.usable && now - answer.sent_at <= answer.terms.max_staleness &&
         (!ordered || answer.sent_at > traffic_.told_at);
}

// To the server, and the doorkeeper hears how long the reply is.
Outcome CopyReads::pass_seen(Request& request, ReadHash which) {
  request.reply_of = which;
  return Outcome::kPass;
}

// ---- many hits in a row

// For each what read_one() does for a hit, and nothing that concerns all of them more than once.
CopyReads::Run CopyReads::serve_run(std::string_view bytes, const CommandFacts& get, TimePoint now,
                                    std::size_t output_max, ByteBuffer& out) {
  Run run;
  if (get.local == nullptr || !may_read_copies()) return run;
  const cache::Read read{get.local->number, {}};
  const bool resp3 = state_.protocol_ == resp::Protocol::kResp3;
  while (out.size() <= output_max) {
    std::string_view name;
    const std::size_t size = resp::plain_get(bytes.substr(run.bytes), name);
    if (size == 0) break;
    LocalKey key = local_key(name);
    if (key.entry == nullptr || judge(key, read, now) != cache::Ruling::kServe) break;
    parts_.copies.consider_audit(*key.entry, *key.copy, now);
    key.copy->mark_read();
    const std::string_view wire = key.copy->reply_in(resp3);
    record_hit(get, key, wire.size());
    out.append(wire);
    run.bytes += size;
    ++run.hits;
  }
  parts_.count_hits(*get.local, run.hits);
  return run;
}

// ---- several keys

// All from copies that were right at one and the same moment, or none: a client may rely on MGET
// being atomic (docs/decisions/0009-several-keys-at-one-moment.md).
Outcome CopyReads::read_many(Request& request) {
  const bool waited = take_answer(request) != nullptr;
  const std::size_t count = request.args().size() - 1;
  const bool cluster = parts_.shared.is_cluster_node.load(std::memory_order_relaxed);
  if (count > kJoinedKeysMax || (cluster && !in_one_slot(request.args()))) return Outcome::kPass;
  const cache::Read read{read_of_each(*request.facts->local).number, {}};
  std::vector<LocalKey> keys;
  keys.reserve(count);
  for (const std::string_view name : std::span(request.args()).subspan(1)) {
    keys.push_back(local_key(name));
    if (keys.back().entry == nullptr || overtakes(keys.back())) return Outcome::kPass;
  }
  if (state_.user_ == ClientState::User::kOther && !may_read(request, keys))
    return pass_to_prove(request, keys);
  const cache::Ruling ruling = judge_all(keys, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    parts_.count_hit(*request.facts->local);
    consider_audits(request, keys);
    serve_joined(request, keys);
    return Outcome::kAnswered;
  }
  parts_.count(count_of(ruling));
  if (serve_many_in_outage(request, keys, read)) return Outcome::kAnswered;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  const bool in_vain = waited || ruling == cache::Ruling::kWriteInFlight ||
                       (ruling == cache::Ruling::kUnproven && !outlive_errors(keys));
  if (in_vain) return Outcome::kPass;
  if (gate_ != nullptr) {
    std::vector<LocalKey> missing;
    for (LocalKey key : keys)
      if (judge(key, read, request.now) != cache::Ruling::kServe) missing.push_back(key);
    const Outcome admitted = admit_fills(request, missing, read);
    if (admitted != Outcome::kPass) return admitted;
  }
  if (!join_fills(keys, read, request.now)) return Outcome::kPass;
  session_.await(Awaited::kFill);
  return Outcome::kWaits;
}

// The first refusal, or kServe. Judged twice: a copy that is there both times was there between
// them, which is one moment for all.
template <class JudgeOne>
cache::Ruling CopyReads::judge_twice(std::vector<LocalKey>& keys, JudgeOne judge_one) {
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

cache::Ruling CopyReads::judge_all(std::vector<LocalKey>& keys, const cache::Read& read,
                                   TimePoint now) const {
  return judge_twice(keys, [&](LocalKey& key) { return judge(key, read, now); });
}

bool CopyReads::outlive_errors(const std::vector<LocalKey>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [](const LocalKey& key) { return outlives_errors(*key.entry); });
}

// The moment that they share is the last word of the tracker: what it had not taken back by then
// was right together. A key whose rule does not outlast errors is judged as ever, so that one of
// level ttl may be among them.
bool CopyReads::serve_many_in_outage(const Request& request, std::vector<LocalKey>& keys,
                                     const cache::Read& read) {
  if (parts_.copies.are_proven()) return false;
  const auto judge_one = [&](LocalKey& key) {
    if (!outlives_errors(*key.entry)) return judge(key, read, request.now);
    const cache::Judgement judgement = parts_.copies.judge_in_outage(*key.entry, read, request.now);
    key.copy = judgement.copy;
    return judgement.ruling;
  };
  if (judge_twice(keys, judge_one) != cache::Ruling::kServe) return false;
  parts_.count_hit(*request.facts->local);
  parts_.count(Count::kOutageHits);
  serve_joined(request, keys);
  return true;
}

// Asks for all copies that are missing and waits for the last: the tracker answers in order. False:
// that would be in vain.
bool CopyReads::join_fills(const std::vector<LocalKey>& keys, const cache::Read& read,
                           TimePoint now) {
  const LocalKey* last = nullptr;
  const auto missing = [&](LocalKey key) { return judge(key, read, now) != cache::Ruling::kServe; };
  for (const LocalKey& key : keys) {
    if (missing(key) &&
        !parts_.copies.may_fill(*key.entry, hash_read(key.hash, read), read, parts_.loop.now()))
      return false;
  }
  for (const LocalKey& key : keys) {
    if (!missing(key)) continue;
    const FillWaiters::Join join = parts_.copies.join_fill(
        FillWaiters::kNobody, *key.entry, hash_read(key.hash, read), read, fill_after(*key.entry));
    if (join == FillWaiters::Join::kFull) return false;
    if (last == nullptr || join == FillWaiters::Join::kAskKeeper) last = &key;
  }
  return last != nullptr &&
         parts_.copies.join_fill(id_, *last->entry, hash_read(last->hash, read), read,
                                 fill_after(*last->entry)) != FillWaiters::Join::kFull;
}

void CopyReads::consider_audits(const Request& request, const std::vector<LocalKey>& keys) {
  for (const LocalKey& key : keys) parts_.copies.consider_audit(*key.entry, *key.copy, request.now);
}

void CopyReads::serve_joined(const Request& request, const std::vector<LocalKey>& keys) {
  const bool resp3 = state_.protocol_ == resp::Protocol::kResp3;
  ByteBuffer wire;
  std::uint64_t sum = 0;
  const Join join = request.facts->local->join;
  if (join == Join::kArray) resp::append_array_header(wire, static_cast<std::int64_t>(keys.size()));
  for (const LocalKey& key : keys) {
    const std::string_view reply = key.copy->reply_in(resp3);
    key.copy->mark_read();
    record_hit(*request.facts, key, reply.size());
    if (join == Join::kArray) {
      wire.append(reply);
    } else {
      sum += number_in(reply);
    }
  }
  if (join == Join::kSum) resp::append_integer(wire, static_cast<std::int64_t>(sum));
  session_.serve(wire.view());
}

// ---- out

void CopyReads::record_hit(const CommandFacts& command, const LocalKey& key, std::size_t bytes) {
  parts_.record({.hash = key.hash,
                 .key = key.key,
                 .db = state_.db_,
                 .kind = detect::AccessKind::kRead,
                 .local_hit = true,
                 .bytes = static_cast<std::uint32_t>(bytes),
                 .command = command.number,
                 .client = address_});
}

// ---- stale, where a rule prefers that to the server

bool CopyReads::serve_stale(const Request& request) {
  if (!applies(request)) return false;
  const bool many = is_of_many(request);
  const std::size_t count = many ? request.args().size() - 1 : 1;
  if (count > kJoinedKeysMax) return false;
  const cache::Read read =
      many ? cache::Read{read_of_each(*request.facts->local).number, {}} : request.read();
  std::vector<LocalKey> keys;
  for (const std::string_view name : std::span(request.args()).subspan(1, count)) {
    keys.push_back(local_key(name));
    if (!find_unproven(keys.back(), read, request.now)) return false;
  }
  if (state_.user_ == ClientState::User::kOther && !may_read(request, keys)) return false;
  parts_.count_hit(*request.facts->local);
  if (many) {
    serve_joined(request, keys);
  } else {
    const std::string_view wire =
        keys.front().copy->reply_in(state_.protocol_ == resp::Protocol::kResp3);
    record_hit(*request.facts, keys.front(), wire.size());
    session_.serve(wire);
  }
  return true;
}

bool CopyReads::find_unproven(LocalKey& key, const cache::Read& read, TimePoint now) {
  if (key.entry == nullptr) return false;
  const RuleLimit* const limit = parts_.shared.limits->of(key.key, key.hash);
  if (limit == nullptr || limit->terms().over != LimitTerms::Over::kStale)
    return judge(key, read, now) == cache::Ruling::kServe;
  key.copy = cache::unproven_copy(*key.entry, read, now, limit->terms().stale_max);
  return key.copy != nullptr;
}

}  // namespace heatsink::proxy
