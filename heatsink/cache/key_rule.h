// SPDX-License-Identifier: Apache-2.0
// The key rule: may this copy of a key be served now? (docs/design/coherence.md)
#pragma once

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
  kGeneration,     // the tracker has been lost or flushed since
  kDeadline,       // the key's TTL, or the local maximum, is over
  kUnproven,       // the server has not proven itself within max-staleness
  kFence,          // a write or a newer read has been seen since the fill was sent
  kWriteInFlight,  // a write of this name is on its way
  kSessionFence,   // not proven since the session was told something: of Level::kSession only
};

struct ServeDecision {
  Ruling ruling;
  const Copy*
      copy;  // not null if and only if kServe; valid until the reader's next quiescent state
};

// The order of the loads is the rule (docs/decisions/0002-proof-before-copy.md): this thread may be
// stopped between any two of them while the tracker goes on.
//  1. the proof: whoever sees it sees every invalidation that came before it;
//  2. the copy: one that is there now was not invalidated when the proof was given;
//  3. the generation: if it is still the copy's, the proof was not given by a later one;
//  4. writes in flight, then the fence, which write_ends() raises before it counts the write down.
// A copy of Level::kTtl is served whatever the others say, up to its deadline. `session_fence` is
// when the session was last told something by the server; it counts at Level::kSession, where the
// proof must be younger.
// A template only so that the test can let the tracker go on between any two loads.
template <class AnyEntry, class AnyProof, class AnyFences>
ServeDecision judge_in_order(const AnyEntry& entry, const Read& read, const AnyProof& proof,
                             const AnyFences& fences, TimePoint now,
                             TimePoint session_fence) noexcept {
  const TimePoint proven = proof.proven_at();
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
  if (fences.write_in_flight(entry.name())) return refuse(Ruling::kWriteInFlight);
  // Strictly later: with equal readings nobody can say which came first.
  if (copy->fill_sent_at <= fences.fence(entry.name())) return refuse(Ruling::kFence);
  if (consistency.level == Level::kSession && validated <= session_fence)
    return refuse(Ruling::kSessionFence);
  return {Ruling::kServe, copy};
}

// For online readers of the entry's table; about ten loads, no store. `now` must have been read
// after the request was: it may be read once for a batch of requests, and a process that slept
// still refuses its first hit.
inline ServeDecision judge(const Entry& entry, const Read& read, const ProofState& proof,
                           const Fences& fences, TimePoint now, TimePoint session_fence) noexcept {
  return judge_in_order(entry, read, proof, fences, now, session_fence);
}

// For keys whose rule says stale_while_error, after judge() has refused: the server cannot be
// reached (the proof is down), and the copy was right no longer ago than that. It leaves the bound
// of the key rule and nothing else: a value whose own TTL is over is not served, nor one that was
// written or read newer through this proxy since. HotTable drops these copies before the proof is
// up again, so the proof is the copy's own.
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
  if (copy->fill_sent_at <= fences.fence(entry.name())) return {Ruling::kFence, nullptr};
  return {Ruling::kServe, copy};
}

}  // namespace heatsink::cache
