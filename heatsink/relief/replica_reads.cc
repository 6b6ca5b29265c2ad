// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/replica_reads.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "heatsink/command/missing_key_reply.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

using copies::Count;

namespace {

// All bound what a client's reads in flight keep.
constexpr std::size_t kRequestBytesMax = 16 * 1024;
constexpr std::size_t kReadsMax = 256;

}  // namespace

// A session that comes from another worker or process knows when its last reply came, but not
// whether that was to a write.
void ReplicaReads::begin() {
  knows_start_ = true;
  written_by_ = client_.traffic.last_reply_at;
}

Outcome ReplicaReads::let_pass(const Request& request) {
  const bool harmless = request.facts->reveals_no_key ||
                        (request.command != nullptr && request.command->has(resp::kReadonly));
  if (harmless) return Outcome::kPass;
  client_.session.hold_until_drained();
  return Outcome::kWaits;
}

// Only reads that any client could have sent: by the proxy's own user, with no connection state.
// Code may read keys that the request does not name.
bool ReplicaReads::may_lag(const Request& request) const {
  const ClientState& state = client_.state;
  if (request.command == nullptr || request.route != Route::kShared || !request.has_right_arity())
    return false;
  if (!request.command->has(resp::kReadonly) ||
      request.command->has(resp::kMayReplicate | resp::kNoMandatoryKeys))
    return false;
  if (state.user_ != ClientState::User::kShared || state.no_local_reads_) return false;
  if (state.in_multi_ || state.watching_ || state.subscribed()) return false;
  if (request.has_waited() && request.waited_for().redirected_to != nullptr) return false;
  return client_.session.may_share() && !client_.session.next_reply().silent;
}

// False: a key is not hot, or its rule reads from the master.
bool ReplicaReads::find_keys(const Request& request, InFlight& made) const {
  ReplicaRead& read = made.read;
  const copies::PolicySnapshot& policy = parts_.shared.current();
  if (policy.replica_reads.empty()) return false;  // a newer one than is_on() saw
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  if (resp::find_keys(*request.command, request.args(), refs) != resp::Keys::kKnown || refs.empty())
    return false;
  made.in_cluster = parts_.shared.cluster.version() > 0;
  // Of several keys only some may have left, which the reply would not show.
  if (made.in_cluster && refs.size() > 1) return false;
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = request.args()[ref.arg];
    const NameHash name = request.name_hash(ref.arg, parts_.shared.seed);
    const KeyHash hash = in_db(name, client_.state.db_);
    if (ref.write || !parts_.shared.hot_keys.has(hash)) return false;
    const policy::ReplicaReads& rule = policy.replica_reads[policy.rule_of(key)];
    if (rule.from == policy::ReplicaReads::From::kMaster) return false;
    const bool is_first = &ref == &refs.front();
    read.lag = is_first ? rule.lag : std::min(read.lag, rule.lag);
    read.may_be_master =
        (is_first || read.may_be_master) && rule.from == policy::ReplicaReads::From::kAll;
    made.keys.add({name, hash, false});
  }
  read.slot = resp::key_slot(request.args()[refs.front().arg]);
  return true;
}

// True: an own write is unanswered. Otherwise sets what a replica must have.
bool ReplicaReads::follows_own_write(ReplicaRead& read) {
  const ReliefClient::LatestEffect effect = client_.session.latest_effect();
  if (effect.is_unanswered) return true;
  if (effect.ticket != seen_effect_) {
    seen_effect_ = effect.ticket;
    written_by_ = client_.traffic.last_reply_at;
  }
  read.since = written_by_;
  return false;
}

bool ReplicaReads::has_room(const Request& request, InFlight& made) const {
  const std::uint64_t known = client_.session.known_reply_bytes(request);
  if (known > parts_.shared.options().stream_threshold.count) return false;
  made.expected_bytes = known != 0 ? known : kUnknownReplyBytes;
  return reads_ == nullptr || reads_->empty() ||
         (reads_->size() < kReadsMax && expected_bytes_ + made.expected_bytes <= kExpectedBytesMax);
}

Outcome ReplicaReads::look(Request& request) {
  if (!may_lag(request)) return Outcome::kPass;
  if (request.raw.empty() || request.raw.size() > kRequestBytesMax) return Outcome::kPass;
  InFlight made;
  if (!find_keys(request, made) || !has_room(request, made)) return Outcome::kPass;
  if (follows_own_write(made.read)) {
    parts_.count(Count::kReplicaOwnWrite);
    return Outcome::kPass;
  }
  made.read.protocol = client_.state.protocol_;
  made.read.db = client_.state.db_;
  made.read.now = request.now;
  made.ticket = client_.session.next_reply().ticket;
  made.request = request.raw;
  made.sized_as = request.facts->sized_as;
  Pending pending;
  pending.session = this;
  pending.read_only = true;
  pending.ticket = made.ticket;
  pending.sized_as = made.sized_as;
  pending.keys.append(made.keys);
  Count why = Count::kReplicaNone;
  switch (parts_.replicas->send(made.read, request.raw, std::move(pending), why)) {
    case ReplicaCarrier::Sent::kNot:
      parts_.count(why);
      return Outcome::kPass;
    case ReplicaCarrier::Sent::kMastersTurn:
      return Outcome::kPass;
    case ReplicaCarrier::Sent::kToReplica:
      break;
  }
  client_.session.sent(request);
  if (reads_ == nullptr) reads_ = std::make_unique<std::vector<InFlight>>();
  kept_bytes_ += made.request.size();
  expected_bytes_ += made.expected_bytes;
  reads_->push_back(std::move(made));
  return Outcome::kAnswered;
}

// ---- replies

ReplicaReads::InFlight ReplicaReads::take(ReplyQueue::Ticket ticket) {
  const auto found = std::find_if(reads_->begin(), reads_->end(),
                                  [&](const InFlight& each) { return each.ticket == ticket; });
  assert(found != reads_->end());
  InFlight taken = std::move(*found);
  reads_->erase(found);
  kept_bytes_ -= taken.request.size() + taken.reply.size();
  expected_bytes_ -= taken.expected_bytes;
  return taken;
}

// Kept until the reply is whole: a replica may fail in the middle of it.
void ReplicaReads::take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) {
  if (closed()) return;
  const auto found = std::find_if(reads_->begin(), reads_->end(),
                                  [&](const InFlight& each) { return each.ticket == ticket; });
  if (found == reads_->end()) return;
  found->reply.append(bytes);
  kept_bytes_ += bytes.size();
}

void ReplicaReads::reply_done(Pending& pending, bool ok, const resp::ReplyScanner& /*reply*/,
                              std::string_view /*kept*/) {
  if (pending.ticket == ReplyQueue::kNone) return end_in_silence();
  // An error may be the replica's own (LOADING, MASTERDOWN, MOVED, its ACL rules).
  if (!ok) return repeat(take(pending.ticket));
  parts_.replicas->ask_master(pending.number, pending.ticket, *this);
}

void ReplicaReads::replica_follows(ReplyQueue::Ticket ticket, bool same_master) {
  InFlight ended = take(ticket);
  if (!same_master || (ended.in_cluster && may_be_of_missing_key(ended.reply)))
    return repeat(std::move(ended));
  parts_.count(Count::kReplicaReads);
  Requester& client = client_.session.requester();
  client.take_reply(ended.ticket, ended.reply);
  Pending done;
  done.ticket = ended.ticket;
  client.reply_done(done, true, {}, {});
}

void ReplicaReads::reply_lost(Pending& pending, bool /*begun*/, const std::string& /*problem*/) {
  if (pending.ticket == ReplyQueue::kNone) return end_in_silence();
  repeat(take(pending.ticket));
}

// The reply was too big for a shared connection, and the session asks the master for it.
void ReplicaReads::ask_again(std::string_view request, const Pending& pending) {
  static_cast<void>(take(pending.ticket));
  client_.session.requester().ask_again(request, pending);
}

void ReplicaReads::end_in_silence() {
  Pending ended;
  client_.session.requester().reply_done(ended, true, {}, {});
}

void ReplicaReads::repeat(InFlight&& failed) {
  Requester& client = client_.session.requester();
  parts_.count(Count::kReplicaReadsRepeated);
  Pending again;
  again.session = &client;
  again.read_only = true;
  again.ticket = failed.ticket;
  again.sized_as = failed.sized_as;
  again.keys.append(failed.keys);
  if (client.closed()) return end_in_silence();
  if (parts_.replicas->send_to_master(failed.read, failed.request, again)) return;
  // No shared connection is ready: the session waits for the master, or answers with its problem.
  client.ask_again(failed.request, again);
  end_in_silence();
}

}  // namespace heatsink::proxy
