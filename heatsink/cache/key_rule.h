// SPDX-License-Identifier: Apache-2.0
// The key rule: may this copy be served now? (docs/design/coherence.md)
#pragma once

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/fences.h"
#include "heatsink/cache/lease.h"

namespace heatsink::cache {

enum class Ruling {
  kServe,
  kNoCopy,         // never filled, or invalidated
  kGeneration,     // the tracker has been lost or flushed since
  kDeadline,       // the key's TTL, or the local maximum, is over
  kUnproven,       // the server has not proven itself within max-staleness
  kFence,          // a write or a newer read has been seen since the fill was sent
  kWriteInFlight,  // a write of this name is on its way
};

// `now` must have been read after the request was: it may be read once for a batch of requests, and a
// process that slept refuses its first hit. Any thread; about ten loads, no store.
inline Ruling judge(const Copy* copy, NameHash name, const Lease& lease, const Fences& fences, TimePoint now,
                    Nanos max_staleness) noexcept {
  if (copy == nullptr) return Ruling::kNoCopy;
  if (copy->generation != lease.generation()) return Ruling::kGeneration;
  if (now >= copy->deadline) return Ruling::kDeadline;
  const TimePoint proven = lease.proven_at();
  const TimePoint validated = copy->fill_sent_at > proven ? copy->fill_sent_at : proven;
  if (now - validated > max_staleness) return Ruling::kUnproven;
  if (fences.write_in_flight(name)) return Ruling::kWriteInFlight;  // before the fence: see write_ends()
  // Strictly later: with equal readings nobody can say which came first.
  if (copy->fill_sent_at <= fences.fence(name)) return Ruling::kFence;
  return Ruling::kServe;
}

}  // namespace heatsink::cache
