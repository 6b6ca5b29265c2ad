// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/copy_reads.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace heatsink::proxy {
namespace {

// REQUIRES that all arguments after the command's name are keys.
bool in_one_slot(const std::vector<std::string_view>& args) {
  const std::uint16_t slot = resp::key_slot(args[1]);
  return std::all_of(args.begin() + 2, args.end(),
                     [&](std::string_view key) { return resp::key_slot(key) == slot; });
}

}  // namespace

std::shared_ptr<const copies::FillAnswer> CopyReads::take_answer(Request& request) {
  return request.has_waited() ? std::exchange(request.waited().answer, nullptr) : nullptr;
}

Outcome CopyReads::look(Request& request) {
  request.reply_of = {};
  request.asked_right = nullptr;
  return CopyLookup::is_of_many(request) ? read_many(request) : read_one(request);
}

// ---- users other than the proxy's own: the server must have allowed each read

// Sends the read itself as this user: the client gets the reply, which also proves the right.
Outcome CopyReads::pass_to_check_right(Request& request, std::span<const Key> keys) const {
  if (request.has_waited()) request.waited().answer = nullptr;
  request.asked_right = std::make_unique<copies::AskedRight>(
      copies::AskedRight{lookup_.right_to(request, keys), request.now});
  return Outcome::kPass;
}

// ---- level session: no read is older than the client's latest reply (coherence.md)

// Commands in flight may run on the server after the copy was proven, and their replies come first.
bool CopyReads::overtakes(const Key& key) const {
  return client_.traffic.in_flight() > 0 &&
         key.entry->consistency().level == cache::Level::kSession;
}

// A client that pipelines would wait for each fill in turn, and its requests would reach the server
// one by one. So its reads go on to the server, and the fills follow on their own; and so they do
// where a fill finds company soon, if `may_queue`.
bool CopyReads::waits_for_fill(const Request& request, const copies::WantedKey& key,
                               bool may_queue) const {
  if (client_.state.user_ == ClientState::User::kOther) return false;  // its rights are unproven
  if (!request.is_last || client_.traffic.in_flight() > 0) return false;
  return !may_queue || is_limited(key) || !parts_.copies.fills_come_often(parts_.loop.clock());
}

// A read that joins does not stay longer than one that goes to the server. Its reply from there
// would end the copy that the fill makes.
bool CopyReads::joins_fill(const copies::WantedKey& wanted, const cache::Read& read) const {
  return client_.state.user_ != ClientState::User::kOther &&
         parts_.copies.joins_fill(wanted, copies::hash_read(wanted.hash, read),
                                  fill_after(wanted.consistency.level));
}

// The fill must be newer than the client's latest reply and than any copy that was served.
TimePoint CopyReads::fill_after(cache::Level level) const {
  if (level != cache::Level::kSession) return TimePoint{};
  return std::max(client_.traffic.fence(), parts_.copies.shown());
}

// One question to the server proves all copies, for all waiting sessions.
Outcome CopyReads::await_proof(Request& request) {
  const bool is_proven =
      request.has_waited() && request.waited().barrier == Request::Waited::Barrier::kPassed;
  if (is_proven || !parts_.copies.are_proven()) return Outcome::kPass;
  parts_.count(copies::Count::kProofsAwaited);
  return barriers_.await_tracker(request);
}

Outcome CopyReads::await_fill(Request& request) {
  client_.session.hold(request, *this);
  return Outcome::kWaits;
}

void CopyReads::filled(std::shared_ptr<const copies::FillAnswer> answer) {
  Request* const held = client_.session.held_by(*this);
  if (held == nullptr) return;
  held->waited().answer = std::move(answer);
  client_.session.let_go(*this);
}

// ---- one key

Outcome CopyReads::read_one(Request& request) {
  Key key = lookup_.find(request.args()[1]);
  request.first_name = key.name;
  if (key.entry != nullptr && !lookup_.may_read(request, {&key, 1}))
    return pass_to_check_right(request, {&key, 1});
  const cache::Read read = request.read();
  const bool resp3 = client_.state.protocol_ == resp::Protocol::kResp3;
  // The read may have joined a fill whose value had expired before the read came. Then it needs a
  // later fill.
  const std::shared_ptr<const copies::FillAnswer> answer = take_answer(request);
  const bool too_old =
      answer && answer->usable && answer->value_ends <= request.waited().fill_wanted_at;
  if (answer && !too_old) {
    if (!may_be_given(*answer, request.now) || answer->key != key.hash || !answer->read.is(read))
      return serve_in_outage(request, key, read) ? Outcome::kAnswered
                                                 : pass_and_record_size(request, answer->which);
    parts_.copies.waited_for_fill(parts_.loop.now() - request.waited().fill_wanted_at);
    // It has come by now; it may be of any node.
    if (answer->proof != 0) client_.traffic.shown.note(answer->proof, parts_.loop.clock());
    lookup_.serve_filled(request, key, answer->reply_in(resp3), answer->sent_at);
    return Outcome::kAnswered;
  }
  if (key.entry == nullptr) return key.in_flight ? Outcome::kPass : fill_earned(request, key, read);
  if (overtakes(key)) return Outcome::kPass;
  const cache::Ruling ruling = lookup_.judge(key, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    note_hit(request, key, read);
    lookup_.serve(request, key);
    return Outcome::kAnswered;
  }
  parts_.count(CopyLookup::count_of(ruling));
  if (serve_in_outage(request, key, read)) return Outcome::kAnswered;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  return copies::worth_keeping(read) ? fill_refused(request, key, read, ruling, too_old)
                                     : Outcome::kPass;
}

void CopyReads::note_hit(const Request& request, const Key& key, const cache::Read& read) {
  parts_.count_hit(*request.facts->local);
  parts_.copies.served(*key.entry, *key.copy, request.now);
  if (!read.arguments.empty()) parts_.copies.count_hit_among_many(key.hash);
  key.copy->mark_read();
  key.entry->touch();
}

void CopyReads::ask_in_background(const Key& key, const cache::Read& read, cache::Ruling ruling) {
  if (!copies::worth_keeping(read)) return;
  if (key.entry == nullptr) {
    const std::optional<copies::WantedKey> wanted = parts_.copies.earn_copy(
        key.hash, key.name, key.key, client_.state.db_, parts_.loop.clock());
    if (wanted) fill_in_background(*wanted, read);
    return;
  }
  const bool fills = ruling != cache::Ruling::kWriteInFlight &&
                     ruling != cache::Ruling::kUnproven && earns_next(key, read, ruling);
  if (fills) fill_in_background(copies::WantedKey(*key.entry), read);
}

// The key is in the table, but `ruling` says why no copy may be served.
Outcome CopyReads::fill_refused(Request& request, const Key& key, const cache::Read& read,
                                cache::Ruling ruling, bool is_too_late) {
  const bool fills = ruling != cache::Ruling::kWriteInFlight && earns_next(key, read, ruling) &&
                     (ruling != cache::Ruling::kUnproven || has_stale_while_error(*key.entry));
  if (!fills) return pass_and_record_size(request, copies::hash_read(key.hash, read));
  const copies::WantedKey wanted(*key.entry);
  // What other reads got from the server has ended the copy. Only if all wait for the next one is
  // it younger than what any of them got.
  const bool is_outrun = ruling == cache::Ruling::kFence;
  if (key.entry->stays() || is_outrun || joins_fill(wanted, read) ||
      waits_for_fill(request, wanted, is_seldom_read(key.entry->copy(read))))
    return fill_one(request, wanted, read, is_too_late);
  fill_in_background(wanted, read);
  return pass_and_record_size(request, copies::hash_read(key.hash, read));
}

// A copy that answered too few reads before its time was over ended for good, as by a write.
bool CopyReads::earns_next(const Key& key, const cache::Read& read, cache::Ruling ruling) const {
  return ruling != cache::Ruling::kDeadline || parts_.copies.earns_again(*key.entry, read);
}

// Counts a read of a key that is not in the table. If the key earns a copy with it, the fill of
// that copy answers the read.
Outcome CopyReads::fill_earned(Request& request, const Key& key, const cache::Read& read) {
  if (!copies::worth_keeping(read)) return Outcome::kPass;
  const std::optional<copies::WantedKey> wanted =
      parts_.copies.earn_copy(key.hash, key.name, key.key, client_.state.db_, parts_.loop.clock());
  if (!wanted) return Outcome::kPass;
  // Such a key is not the busiest, so its fill is not urgent. One that a read of a batch waits for
  // wakes the keeper for itself alone; queued ones share the message, the send and the wake-up.
  if (request.is_alone && waits_for_fill(request, *wanted, true))
    return fill_one(request, *wanted, read, false);
  fill_in_background(*wanted, read);
  return Outcome::kPass;
}

// `is_too_late`: the read joined a fill whose value had expired before it came.
Outcome CopyReads::fill_one(Request& request, const copies::WantedKey& wanted,
                            const cache::Read& read, bool is_too_late) {
  const copies::ReadHash which = copies::hash_read(wanted.hash, read);
  if (!parts_.copies.may_fill(wanted, which, read, parts_.loop.now()))
    return pass_and_record_size(request, which);
  const Outcome admitted = admit_fills(request, {&wanted, 1}, read);
  if (admitted != Outcome::kPass) return admitted;
  TimePoint after = fill_after(wanted.consistency.level);
  TimePoint& wanted_at = request.waited().fill_wanted_at;
  if (is_too_late) {
    after = std::max(after, wanted_at);
  } else {
    wanted_at = request.now;
  }
  if (parts_.copies.join_fill(client_.id, wanted, which, read, after) ==
      copies::FillWaiters::JoinResult::kFull)
    return pass_and_record_size(request, which);
  return await_fill(request);
}

// Counts a fill once, even if several reads wait for it.
Outcome CopyReads::admit_fills(Request& request, std::span<const copies::WantedKey> missing,
                               const cache::Read& read) {
  if (gate_ == nullptr || !gate_->is_on()) return Outcome::kPass;
  std::vector<AskedKey> keys;
  for (const copies::WantedKey& key : missing) {
    const bool joins = parts_.copies.joins_fill(key, copies::hash_read(key.hash, read),
                                                fill_after(key.consistency.level));
    if (!joins) keys.push_back({key.key, key.hash, false});
  }
  return gate_->admit_fill(request, keys);
}

// ---- outages: the key's rule has stale-while-error

// Such a read does not go to a server that has stopped proving its invalidations, where it might
// wait for long. It waits until the keeper has found out.
bool CopyReads::has_stale_while_error(const cache::Entry& entry) {
  return entry.consistency().stale_while_error > Nanos(0);
}

bool CopyReads::serve_in_outage(const Request& request, Key& key, const cache::Read& read) {
  if (key.entry == nullptr || !has_stale_while_error(*key.entry)) return false;
  key.copy = parts_.copies.judge_in_outage(*key.entry, read, request.now).copy;
  if (key.copy == nullptr) return false;
  parts_.count_hit(*request.facts->local);
  parts_.count(copies::Count::kOutageHits);
  lookup_.serve(request, key);
  return true;
}

// The client may have received messages while the read waited.
bool CopyReads::may_be_given(const copies::FillAnswer& answer, TimePoint now) const {
  const bool ordered = answer.consistency.level == cache::Level::kSession;
  return answer.usable && now - answer.sent_at <= answer.consistency.max_staleness &&
         (!ordered || answer.sent_at > client_.traffic.fence());
}

// Sends the read to the server, and reports the length of its reply to the filter of reply sizes.
Outcome CopyReads::pass_and_record_size(Request& request, copies::ReadHash which) {
  request.reply_of = which;
  return Outcome::kPass;
}

// ---- many hits in a row

// Does what read_one() does for a hit, with one check of the client's state for all requests.
std::size_t CopyReads::serve_run(GetsAhead& gets, const CommandFacts& get, TimePoint now,
                                 std::size_t output_max, ByteBuffer& out) {
  if (get.local == nullptr) return 0;
  const cache::Read read{get.local->number, {}};
  const bool resp3 = client_.state.protocol_ == resp::Protocol::kResp3;
  std::size_t bytes = 0;
  std::uint64_t hits = 0;
  for (; !gets.empty() && out.size() <= output_max; gets.pop()) {
    Key& key = gets.front().key;
    if (key.entry == nullptr || lookup_.is_in_flight(key.name) || overtakes(key)) break;
    if (const cache::Ruling ruling = lookup_.judge(key, read, now);
        ruling != cache::Ruling::kServe) {
      key.must_earn = ruling == cache::Ruling::kDeadline && !has_stale_while_error(*key.entry) &&
                      parts_.copies.must_earn(*key.entry, read);
      break;
    }
    parts_.copies.served(*key.entry, *key.copy, now);
    key.copy->mark_read();
    key.entry->touch();
    const std::string_view wire = key.copy->reply_in(resp3);
    lookup_.record_hit(get, key, wire.size());
    out.append(wire);
    bytes += gets.front().wire.size();
    ++hits;
  }
  if (hits > 0) parts_.count_hits(*get.local, hits);
  return bytes;
}

// ---- several keys

// Answers only if all copies were valid at one moment: clients rely on MGET being atomic
// (docs/decisions/0009-several-keys-at-one-moment.md).
Outcome CopyReads::read_many(Request& request) {
  const bool waited = take_answer(request) != nullptr;
  const std::size_t count = request.args().size() - 1;
  const bool cluster = parts_.shared.is_cluster_node.load(std::memory_order_relaxed);
  if (count > copies::kJoinedKeysMax || (cluster && !in_one_slot(request.args())))
    return Outcome::kPass;
  const cache::Read read = CopyLookup::read_of_one(request);
  std::vector<Key> keys;
  keys.reserve(count);
  bool is_whole = true;  // all keys are in the table
  for (const std::string_view name : std::span(request.args()).subspan(1)) {
    keys.push_back(lookup_.find(name));
    is_whole = is_whole && keys.back().entry != nullptr && !overtakes(keys.back());
  }
  if (!is_whole) {
    earn_copies(keys, read);
    return Outcome::kPass;
  }
  if (!lookup_.may_read(request, keys)) return pass_to_check_right(request, keys);
  const cache::Ruling ruling = judge_all(keys, read, request.now);
  if (ruling == cache::Ruling::kServe) {
    if (!waited) parts_.count_hit(*request.facts->local);
    note_served(request, keys);
    lookup_.serve_joined(request, keys);
    return Outcome::kAnswered;
  }
  parts_.count(CopyLookup::count_of(ruling));
  if (serve_many_in_outage(request, keys, read)) return Outcome::kAnswered;
  if (ruling == cache::Ruling::kSessionFence) return await_proof(request);
  const bool fill_is_useless =
      waited || ruling == cache::Ruling::kWriteInFlight ||
      (ruling == cache::Ruling::kUnproven && !have_stale_while_error(keys));
  if (fill_is_useless) return Outcome::kPass;
  if (gate_ != nullptr && gate_->is_on()) {
    std::vector<copies::WantedKey> missing;
    for (Key key : keys) {
      if (lookup_.judge(key, read, request.now) != cache::Ruling::kServe)
        missing.emplace_back(*key.entry);
    }
    const Outcome admitted = admit_fills(request, missing, read);
    if (admitted != Outcome::kPass) return admitted;
  }
  if (!join_fills(request, keys, read)) return Outcome::kPass;
  return await_fill(request);
}

// Returns the first refusal, or kServe. Judges twice: a copy that is the same both times was valid
// in between, and that is one moment for all copies.
template <class JudgeOne>
cache::Ruling CopyReads::judge_twice(std::vector<Key>& keys, JudgeOne judge_one) {
  for (Key& key : keys) {
    const cache::Ruling ruling = judge_one(key);
    if (ruling != cache::Ruling::kServe) return ruling;
  }
  for (Key& key : keys) {
    const cache::Copy* first = key.copy;
    const cache::Ruling ruling = judge_one(key);
    if (ruling != cache::Ruling::kServe) return ruling;
    // Written and filled again between the two looks.
    if (key.copy != first) return cache::Ruling::kFence;
  }
  return cache::Ruling::kServe;
}

cache::Ruling CopyReads::judge_all(std::vector<Key>& keys, const cache::Read& read,
                                   TimePoint now) const {
  return judge_twice(keys, [&](Key& key) { return lookup_.judge(key, read, now); });
}

bool CopyReads::have_stale_while_error(const std::vector<Key>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [](const Key& key) { return has_stale_while_error(*key.entry); });
}

// The common moment is the tracker's last message: copies that were not invalidated by then were
// valid together. A key whose rule has no stale-while-error is judged as usual, so that a key of
// level ttl may be among them.
bool CopyReads::serve_many_in_outage(const Request& request, std::vector<Key>& keys,
                                     const cache::Read& read) {
  if (parts_.copies.are_proven()) return false;
  const auto judge_one = [&](Key& key) {
    if (!has_stale_while_error(*key.entry)) return lookup_.judge(key, read, request.now);
    const cache::ServeDecision decision =
        parts_.copies.judge_in_outage(*key.entry, read, request.now);
    key.copy = decision.copy;
    return decision.ruling;
  };
  if (judge_twice(keys, judge_one) != cache::Ruling::kServe) return false;
  parts_.count_hit(*request.facts->local);
  parts_.count(copies::Count::kOutageHits);
  lookup_.serve_joined(request, keys);
  return true;
}

// Asks for all missing copies and waits for the last fill, because the tracker answers in order.
// False: the copies cannot come.
bool CopyReads::join_fills(Request& request, const std::vector<Key>& keys,
                           const cache::Read& read) {
  const Key* last = nullptr;
  const auto missing = [&](Key key) {
    return lookup_.judge(key, read, request.now) != cache::Ruling::kServe;
  };
  for (const Key& key : keys) {
    if (missing(key) &&
        !parts_.copies.may_fill(copies::WantedKey(*key.entry), copies::hash_read(key.hash, read),
                                read, parts_.loop.now()))
      return false;
  }
  for (const Key& key : keys) {
    if (!missing(key)) continue;
    request.waited().filled.push_back(key.hash);
    const copies::FillWaiters::JoinResult join = parts_.copies.join_fill(
        copies::FillWaiters::kNoSession, copies::WantedKey(*key.entry),
        copies::hash_read(key.hash, read), read, fill_after(key.entry->consistency().level));
    if (join == copies::FillWaiters::JoinResult::kFull) return false;
    if (last == nullptr || join == copies::FillWaiters::JoinResult::kAskKeeper) last = &key;
  }
  return last != nullptr && parts_.copies.join_fill(client_.id, copies::WantedKey(*last->entry),
                                                    copies::hash_read(last->hash, read), read,
                                                    fill_after(last->entry->consistency().level)) !=
                                copies::FillWaiters::JoinResult::kFull;
}

// Counts this read of the keys that are not in the table, and asks for copies of those that have
// earned one. The read itself goes to the server: its other keys would have to wait.
void CopyReads::earn_copies(const std::vector<Key>& keys, const cache::Read& read) {
  for (const Key& key : keys) {
    if (key.entry != nullptr || key.in_flight) continue;
    const std::optional<copies::WantedKey> wanted = parts_.copies.earn_copy(
        key.hash, key.name, key.key, client_.state.db_, parts_.loop.clock());
    if (wanted) fill_in_background(*wanted, read);
  }
}

// No limit would count a fill that answers no request.
bool CopyReads::is_limited(const copies::WantedKey& key) const {
  policy::Limits* const limits = parts_.shared.limits();
  return limits != nullptr && limits->of(key.key, key.hash) != nullptr;
}

void CopyReads::fill_in_background(const copies::WantedKey& wanted, const cache::Read& read) {
  if (is_limited(wanted)) return;
  const copies::ReadHash which = copies::hash_read(wanted.hash, read);
  if (!parts_.copies.may_fill(wanted, which, read, parts_.loop.now())) return;
  request_after(parts_.copies.queue_fill(wanted, which, read, parts_.loop.clock()), parts_);
}

void CopyReads::request_after(std::optional<Nanos> wait, const WorkerParts& parts) {
  if (!wait) return;
  parts.loop.call_after(
      *wait, [&parts] { request_after(parts.copies.request_queued(parts.loop.clock()), parts); });
}

void CopyReads::note_served(const Request& request, const std::vector<Key>& keys) {
  for (const Key& key : keys) parts_.copies.served(*key.entry, *key.copy, request.now);
}

}  // namespace heatsink::proxy
