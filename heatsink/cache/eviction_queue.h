// SPDX-License-Identifier: Apache-2.0
// The order in which entries leave a full cache: SIEVE or CLOCK.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heatsink/admit/choice.h"

namespace heatsink::cache {

using admit::EvictionOrder;

// Holds entries by links within them; does not own them. For the cache's one writer at a time,
// while readers set marks. add() and remove() are O(1). An Entry has, for this friend only, the
// links older_ and newer_, and the mark visited_, an atomic bool: it had a hit.
template <class Entry>
class EvictionQueue {
 public:
  // One eviction passes over at most so many entries that had hits: 20 us if no cache has them.
  static constexpr std::size_t kSparedMax = 128;

  void set_order(EvictionOrder order) { order_ = order; }
  EvictionOrder order() const { return order_; }

  void add(Entry& entry) {  // as the newest
    entry.visited_.store(false, std::memory_order_relaxed);
    append(entry);
  }
  void remove(Entry& entry) {
    if (hand_ == &entry) hand_ = entry.newer_;
    if (swept_ == &entry) swept_ = entry.newer_;
    (entry.older_ != nullptr ? entry.older_->newer_ : oldest_) = entry.newer_;
    (entry.newer_ != nullptr ? entry.newer_->older_ : newest_) = entry.older_;
    entry.older_ = entry.newer_ = nullptr;
    --size_;
  }

  // The next to leave among those for which `may_go` is true; null: there is none. It stays in the
  // queue. Amortised O(1), because each entry passed over had a hit since; apart from those that
  // may not go.
  template <class MayGo>
  Entry* next(MayGo may_go) {
    std::size_t spared = 0;
    // One turn clears all marks. Readers may set them again meanwhile: the second heeds none.
    for (std::size_t step = 0; step < 2 * size_; ++step) {
      Entry& entry = order_ == EvictionOrder::kSieve && hand_ != nullptr ? *hand_ : *oldest_;
      if (may_go(entry)) {
        const bool is_spared =
            entry.visited_.load(std::memory_order_relaxed) && spared < kSparedMax && step < size_;
        if (!is_spared) return &entry;
        entry.visited_.store(false, std::memory_order_relaxed);
        ++spared;
      }
      pass_over(entry);
    }
    return nullptr;
  }

  // Visits the next `count` entries, in turn with those of earlier calls. `visit` may remove the
  // entry that it gets.
  template <class Visit>
  void sweep(std::size_t count, Visit visit) {
    for (count = std::min(count, size_); count > 0 && size_ > 0; --count) {
      Entry& entry = swept_ != nullptr ? *swept_ : *oldest_;
      swept_ = entry.newer_;
      visit(entry);
    }
  }

  std::size_t size() const { return size_; }
  // From the oldest to the newest. `visit` may remove the entry that it gets.
  template <class Visit>
  void for_each(Visit visit) const {
    for (Entry *at = oldest_, *newer = nullptr; at != nullptr; at = newer) {
      newer = at->newer_;
      visit(*at);
    }
  }

 private:
  void append(Entry& entry) {
    entry.older_ = newest_;
    (newest_ != nullptr ? newest_->newer_ : oldest_) = &entry;
    newest_ = &entry;
    ++size_;
  }
  void pass_over(Entry& entry) {
    if (order_ == EvictionOrder::kSieve) {
      hand_ = entry.newer_;  // null: the next look begins at the oldest
      return;
    }
    remove(entry);
    append(entry);
  }

  EvictionOrder order_ = EvictionOrder::kSieve;
  Entry* oldest_ = nullptr;
  Entry* newest_ = nullptr;
  Entry* hand_ = nullptr;
  Entry* swept_ = nullptr;  // the next of sweep(); null: the oldest
  std::size_t size_ = 0;
};

}  // namespace heatsink::cache
