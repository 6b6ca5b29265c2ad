// SPDX-License-Identifier: Apache-2.0
// Finds a copy for callers that accept one without proof, such as a limited client.
#pragma once

#include "heatsink/base/clock.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/hot_table.h"

namespace heatsink::cache {

// A copy that judge() refuses may still be better than an error
// (docs/decisions/0022-a-limit-is-a-clock.md). Returns the copy if its deadline has not passed and
// its fill was sent within the last `age_max`: the key had this value at some moment since then. It
// may be older than what the same client has written or read. Null: no such copy. For online
// readers of the entry's table; the copy is valid until the reader's next quiescent state.
inline const Copy* unproven_copy(const Entry& entry, const Read& read, TimePoint now,
                                 Nanos age_max) noexcept {
  const Copy* const copy = entry.copy(read);
  const bool good = copy != nullptr && now < copy->deadline && now - copy->fill_sent_at <= age_max;
  return good ? copy : nullptr;
}

}  // namespace heatsink::cache
