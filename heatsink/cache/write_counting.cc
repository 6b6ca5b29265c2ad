// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/write_counting.h"

#include <algorithm>

namespace heatsink::cache {

bool WriteCounting::follow(bool is_empty, Epochs& epochs, TimePoint now) {
  if (!is_empty) had_keys_at_ = now;
  if (all_counted_.load(std::memory_order_relaxed)) {
    if (!is_empty || now - had_keys_at_ < kEmptyFor) return false;
    all_counted_.store(false);
    counts_.store(false);
    return false;
  }
  if (is_empty && !counts()) return false;
  if (!counts()) {
    counts_.store(true);
    awaited_ = epochs.begin_grace_period();
  }
  // Once begun it goes on, although the table may be empty again.
  if (awaited_ && epochs.has_passed(*awaited_)) awaited_.reset();
  if (awaited_ || has_uncounted()) return true;
  all_counted_.store(true);
  return false;
}

bool WriteCounting::has_uncounted() const noexcept {
  return std::ranges::any_of(uncounted_, [](const Uncounted& worker) {
    return worker.writes.load(std::memory_order_acquire) > 0;
  });
}

}  // namespace heatsink::cache
