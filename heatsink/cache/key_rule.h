// SPDX-License-Identifier: Apache-2.0
// The key rule: may this copy of a key be served now? (docs/design/coherence.md)
#pragma once

#include "heatsink/base/clock.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/fences.h"
#include "heatsink/cache/hot_table.h"
#include "heatsink/cache/lease.h"
#include "heatsink/cache/terms.h"

namespace heatsink::cache {

enum class Ruling {
  kServe,
  kNoCopy,         // never filled, or invalidated
  kGeneration,     // the tracker has been lost or flushed since
  kDeadline,       // the key's TTL, or the local maximum, is over
  kUnproven,       // the server has not proven itself within max-staleness
  kFence,          // a write or a newer read has been seen since the fill was sent
  kWriteInFlight,  // a write of this name is on its way
  kSessionFence,   // not proven since the session was told something: of Level::kSession only
};

struct Judgement {
  Ruling ruling;
  const Copy*
      copy;  // not null if and only if kServe; valid until the reader's next quiescent state
};

// The order of the loads is the rule (docs/decisions/0002-lease-before-copy.md): this thread may be
// stopped between any two of them while the tracker goes on.
//  1. the proof: whoever sees it sees every invalidation that came before it;
//  2. the copy: one that is there now was not invalidated when the proof was given;
//  3. the generation: if it is still the copy's, the proof was not given by a later one;
//  4. writes in flight, then the fence, which write_ends() raises before it counts the write down.
// A copy of Level::kTtl is served whatever the others say, up to its deadline. `session_fence` is
// when the session was last told something by the server; it counts at Level::kSession, where the
// proof must be younger.
// A template only so that the test can let the tracker go on between any two loads.
template <class AnyEntry, class AnyLease, class AnyFences>
Judgement judge_in_order(const AnyEntry& entry, const Read& read, const AnyLease& lease,
                         const AnyFences& fences, TimePoint now, TimePoint session_fence) noexcept {
  const TimePoint proven = lease.proven_at();
  const Copy* copy = entry.copy(read);
  if (copy == nullptr) return {Ruling::kNoCopy, nullptr};
  if (now >= copy->deadline) return {Ruling::kDeadline, nullptr};
  const Terms terms = entry.terms();
  const auto refuse = [&terms, copy](Ruling why) {
    return terms.level == Level::kTtl ? Judgement{Ruling::kServe, copy} : Judgement{why, nullptr};
  };
  if (copy->generation != lease.generation()) return refuse(Ruling::kGeneration);
  const TimePoint validated = copy->fill_sent_at > proven ? copy->fill_sent_at : proven;
  if (now - validated > terms.max_staleness) return refuse(Ruling::kUnproven);
  if (fences.write_in_flight(entry.name())) return refuse(Ruling::kWriteInFlight);
  // Strictly later: with equal readings nobody can say which came first.
  if (copy->fill_sent_at <= fences.fence(entry.name())) return refuse(Ruling::kFence);
  if (terms.level == Level::kSession && validated <= session_fence)
    return refuse(Ruling::kSessionFence);
  return {Ruling::kServe, copy};
}

// For online readers of the entry's table; about ten loads, no store. `now` must have been read
// after the request was: it may be read once for a batch of requests, and a process that slept
// still refuses its first hit.
inline Judgement judge(const Entry& entry, const Read& read, const Lease& lease,
                       const Fences& fences, TimePoint now, TimePoint session_fence) noexcept {
  return judge_in_order(entry, read, lease, fences, now, session_fence);
}

// For keys whose rule says stale_while_error, after judge() has refused: the server cannot be
// reached (the lease is down), and the copy was right no longer ago than that. It leaves the bound
// of the key rule and nothing else: a value whose own TTL is over is not served, nor one that was
// written or read newer through this proxy since. HotTable drops these copies before the lease is
// up again, so the proof is the copy's own.
inline Judgement judge_in_outage(const Entry& entry, const Read& read, const Lease& lease,
                                 const Fences& fences, TimePoint now) noexcept {
  const TimePoint proven = lease.proven_at();
  const Copy* copy = entry.copy(read);
  if (copy == nullptr) return {Ruling::kNoCopy, nullptr};
  if (now >= copy->value_ends) return {Ruling::kDeadline, nullptr};
  const TimePoint validated = copy->fill_sent_at > proven ? copy->fill_sent_at : proven;
  if (lease.up() || now - validated > entry.terms().stale_while_error)
    return {Ruling::kUnproven, nullptr};
  if (fences.write_in_flight(entry.name())) return {Ruling::kWriteInFlight, nullptr};
  if (copy->fill_sent_at <= fences.fence(entry.name())) return {Ruling::kFence, nullptr};
  return {Ruling::kServe, copy};
}

}  // namespace heatsink::cache
