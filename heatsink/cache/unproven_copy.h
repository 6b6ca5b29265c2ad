// SPDX-License-Identifier: Apache-2.0
// Decides whether a copy may be served in an outage, where a rule allows copies without proof.
#pragma once

#include "heatsink/base/clock.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/hot_table.h"

namespace heatsink::cache {

// What judge() refuses may still be better than an error
// (docs/decisions/0022-a-limit-is-a-clock.md). This gives it, if the value's own TTL has not ended
// and it was asked for within the last `age_max`: the value that the key had at some moment since
// then. It may be older than what the same client has written or read. Null: there is no such copy.
// For online readers of the entry's table; the copy is valid until the reader's next quiescent
// state.
inline const Copy* unproven_copy(const Entry& entry, const Read& read, TimePoint now,
                                 Nanos age_max) noexcept {
  const Copy* const copy = entry.copy(read);
  const bool good = copy != nullptr && now < copy->deadline && now - copy->fill_sent_at <= age_max;
  return good ? copy : nullptr;
}

}  // namespace heatsink::cache
