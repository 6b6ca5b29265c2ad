// SPDX-License-Identifier: Apache-2.0
// The key rule: decides whether a copy of a key may be served now (docs/design/coherence.md).
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/fences.h"
#include "heatsink/cache/hot_table.h"
#include "heatsink/cache/proof_state.h"

namespace heatsink::cache {

enum class Ruling {
  kServe,
  kNoCopy,         // never filled, or invalidated
  kGeneration,     // the tracker was lost or flushed since the fill
  kDeadline,       // the key's TTL or the local maximum is over
  kUnproven,       // no proof of the server within max-staleness, or none that it is the master, or
                   // none that databases were not exchanged
  kFence,          // the proxy saw a write or a newer read since the fill was sent
  kWriteInFlight,  // a write of this name awaits its reply
  kSessionFence,   // Level::kSession only: no proof since the client's last reply
};

struct ServeDecision {
  Ruling ruling;
  const Copy*
      copy;  // non-null if and only if kServe; valid until the reader's next quiescent state
};

// The order of the loads is essential (docs/decisions/0002-lease-before-copy.md), because the
// tracker may make progress between any two of them:
//  1. the proof, the confirmation that the server is the master, and the word on exchanged
//     databases: a thread that sees a proof sees every invalidation before it;
//  2. the copy: a copy that is still there was not invalidated when the proof was given;
//  3. the generation: if it is still the copy's, no later generation gave the proof;
//  4. writes in flight, then the fence: write_ends() raises the fence before it lowers the count.
//     Before that, whether all writes are counted (write_counting.h).
// A copy of Level::kTtl is served until its deadline, whatever the other checks say.
// `session_fence` is the time of the client's last reply from the server. At Level::kSession the
// proof must be younger than it, and in a cluster the voters' word, too: a fill alone may come from
// a master that has been replaced. This is a template only so that a test can run the tracker
// between any two loads.
template <class AnyEntry, class AnyProof, class AnyFences>
ServeDecision judge_in_order(const AnyEntry& entry, const Read& read, const AnyProof& proof,
                             const AnyFences& fences, TimePoint now,
                             TimePoint session_fence) noexcept {
  const TimePoint proven = proof.proven_at();
  const TimePoint confirmed = proof.confirmed_at();
  const TimePoint voted = proof.voted_at();
  const TimePoint exchanges_known = proof.exchanges_known_at();
  const Copy* copy = entry.copy(read);
  if (copy == nullptr) return {Ruling::kNoCopy, nullptr};
  if (now >= copy->deadline) return {Ruling::kDeadline, nullptr};
  const ConsistencyPolicy consistency = entry.consistency();
  const auto refuse = [&consistency, copy](Ruling why) {
    return consistency.level == Level::kTtl ? ServeDecision{Ruling::kServe, copy}
                                            : ServeDecision{why, nullptr};
  };
  if (copy->generation != proof.generation()) return refuse(Ruling::kGeneration);
  const TimePoint validated = copy->fill_sent_at > proven ? copy->fill_sent_at : proven;
  if (now - validated > consistency.max_staleness) return refuse(Ruling::kUnproven);
  if (confirmed < now - consistency.max_staleness) return refuse(Ruling::kUnproven);
  // A fill is on the connection that asks, so its value is of after all exchanges before it.
  const TimePoint unexchanged = std::max(copy->fill_sent_at, exchanges_known);
  if (unexchanged < now - consistency.max_staleness) return refuse(Ruling::kUnproven);
  if (fences.write_in_flight(entry.name())) return refuse(Ruling::kWriteInFlight);
  // Strictly later: equal clock readings do not tell which event came first.
  if (copy->fill_sent_at <= fences.fence(entry)) return refuse(Ruling::kFence);
  if (consistency.level == Level::kSession && voted <= session_fence)
    return refuse(Ruling::kSessionFence);
  if (consistency.level == Level::kSession && validated <= session_fence)
    return refuse(Ruling::kSessionFence);
  return {Ruling::kServe, copy};
}

// For online readers of the entry's table; about ten loads, no store. REQUIRES that `now` was read
// after the request. One reading may serve a batch of requests, and a process that slept still
// refuses its first hit.
inline ServeDecision judge(const Entry& entry, const Read& read, const ProofState& proof,
                           const Fences& fences, TimePoint now, TimePoint session_fence) noexcept {
  return judge_in_order(entry, read, proof, fences, now, session_fence);
}
// By the proof of the server that the copies came from. A copy that has just come from another
// server is refused once, because it has another generation.
inline ServeDecision judge(const Entry& entry, const Read& read, const ProofStates& proofs,
                           const Fences& fences, TimePoint now, TimePoint session_fence) noexcept {
  return judge_in_order(entry, read, proofs[entry.proof()], fences, now, session_fence);
}

// For keys with stale_while_error, after judge() has refused. Serves the copy if the server is
// unreachable (the proof is down) and the copy was proven no longer ago than that. Only the
// staleness bound of the key rule is relaxed: a value past its own TTL is not served, and neither
// is a copy older than a write or read through this proxy. HotTable drops these copies before the
// proof is up again, so the proof here is of the copy's own generation.
inline ServeDecision judge_in_outage(const Entry& entry, const Read& read, const ProofState& proof,
                                     const Fences& fences, TimePoint now) noexcept {
  const TimePoint proven = proof.proven_at();
  const Copy* copy = entry.copy(read);
  if (copy == nullptr) return {Ruling::kNoCopy, nullptr};
  if (now >= copy->value_ends) return {Ruling::kDeadline, nullptr};
  const TimePoint validated = copy->fill_sent_at > proven ? copy->fill_sent_at : proven;
  if (proof.up() || now - validated > entry.consistency().stale_while_error)
    return {Ruling::kUnproven, nullptr};
  if (fences.write_in_flight(entry.name())) return {Ruling::kWriteInFlight, nullptr};
  if (copy->fill_sent_at <= fences.fence(entry)) return {Ruling::kFence, nullptr};
  return {Ruling::kServe, copy};
}

}  // namespace heatsink::cache
