// SPDX-License-Identifier: Apache-2.0
// A worker's part in the local copies: who asks for one, who waits for it, what fences the keys.
#include <algorithm>
#include <utility>

#include "heatsink/proxy/keeper.h"
#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

bool Worker::may_fill(const cache::Entry& entry, ReadHash which, const cache::Read& read) {
  if (!shared_.lease.up() || cache::concerns_whole_key(entry.uncacheable())) return false;
  const bool plain = read.arguments.empty();
  const bool get = read.command == 0;  // never longer than it may be: see the tracker
  const bool bounded = plain && (get || local_reads()[read.command].small);
  const TimePoint now = loop_.now();
  switch (doorkeeper_.ask(which, now)) {
    case Doorkeeper::Word::kUnknown:
      return bounded;
    case Doorkeeper::Word::kFits:
      return plain || payoff_.pays(entry.hash(), now);
    case Doorkeeper::Word::kNot:
      break;
  }
  return false;
}

// A fill sent with the one shown last, or later, is not behind it: hence the nanosecond.
TimePoint Worker::fill_fence(const cache::Entry& entry, TimePoint after) const {
  return std::max({shared_.fences.fence_to_join(entry.name()), entry.shown() - Nanos(1), after});
}

bool Worker::joins_fill(const cache::Entry& entry, ReadHash which, TimePoint after) const {
  return waiters_.joins(which, fill_fence(entry, after));
}

FillWaiters::Join Worker::join_fill(std::uint64_t session, const cache::Entry& entry,
                                    ReadHash which, const cache::Read& read, TimePoint after) {
  const TimePoint fence = fill_fence(entry, after);
  const FillWaiters::Join join = waiters_.join(which, session, fence);
  const bool plain = read.arguments.empty();
  if (join == FillWaiters::Join::kJoined && session != FillWaiters::kNobody) {
    counters_.add(Count::kJoinedFills);
    if (!plain) payoff_.hit(entry.hash());
  }
  if (join == FillWaiters::Join::kAskKeeper) {
    if (!plain) payoff_.filled(entry.hash());
    keeper_.request_fill({index_, entry.hash(), entry.key(), entry.db(), fence, which,
                          cache::StoredRead(read), entry.terms()});
  }
  return join;
}

void Worker::on_filled(const std::shared_ptr<const FillAnswer>& answer) {
  const bool get = answer->read.command() == 0;
  if (answer->refused) {
    doorkeeper_.refused(answer->which, loop_.now());
  } else if (answer->usable && !get) {
    saw_reply(answer->which, std::max(answer->reply.size(), answer->resp2.size()));
  }
  for (const std::uint64_t id : waiters_.take(*answer)) {
    if (Session* waiting = session(id)) waiting->answer(answer);
  }
}

void Worker::audit(const cache::Entry& entry, const cache::Copy& copy, TimePoint now) {
  const bool bounded = entry.terms().level != cache::Level::kTtl;  // or it may be stale
  if (sampler_.take(now) && bounded) keeper_.audit(AuditedHit(entry, copy));
}

void Worker::begin_writes(Pending& pending) {
  if (!shared_.options.cache_enabled) return;
  pending.keys.for_each([&](const TouchedKey& key) {
    if (key.write) shared_.fences.write_begins(key.name);
  });
  pending.writes_begun = true;
}

void Worker::settle(Pending& pending, TimePoint now, Shown shown) {
  if (std::exchange(pending.settled, true)) return;
  if (pending.changes_access) {
    shared_.rights_change(now);
    keeper_.check_access(index_, hold(pending));
  }
  if (!shared_.options.cache_enabled) return;
  pending.keys.for_each([&](const TouchedKey& key) {
    if (key.write && pending.writes_begun) {
      shared_.fences.write_ends(key.name, now);
    } else if (key.write || (shown == Shown::kPerhaps && shared_.table.has(key.key))) {
      shared_.fences.raise(key.name, now);
    }
  });
  const bool doubtful =
      pending.unknown_keys && !shared_.table.none() && (shared_.lease.up() || pending.flush);
  if (!doubtful) return;
  counters_.add(Count::kBarriers);
  shared_.fences.raise_unknown(now);
  keeper_.request_barrier({index_, hold(pending), pending.flush});
}

// Whose replies now wait for the keeper; 0: there is nobody to hand one to.
std::uint64_t Worker::hold(const Pending& pending) {
  if (pending.session == nullptr || pending.session->closed()) return 0;
  pending.session->hold();
  return pending.session->id();
}

void Worker::ask_barrier(const Session& session, std::uint64_t ticket) {
  keeper_.request_barrier({index_, session.id(), false, ticket});
}

void Worker::release(std::uint64_t session_id, std::uint64_t ticket) {
  Session* const waiting = session(session_id);
  if (waiting == nullptr) return;
  if (ticket == 0) {
    waiting->release_hold();
  } else {
    waiting->barrier_passed(ticket);
  }
}

}  // namespace heatsink::proxy
