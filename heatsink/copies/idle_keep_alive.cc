// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/idle_keep_alive.h"

#include <algorithm>

namespace heatsink::copies {

void IdleKeepAlive::touch_keys(TimePoint now) {
  if (!tracker_->is_up()) return;
  if (!tracker_->eviction_known() || now - asked_at_ >= kAskInterval) {
    asked_at_ = now;
    tracker_->ask_eviction(now);
  }
  if (tracker_->evicts_by_use()) touch_all(now);
}

// Sorted by database, to need few SELECTs.
void IdleKeepAlive::touch_all(TimePoint now) {
  std::vector<const cache::Entry*> cached;
  ++turn_;
  table_.for_each_cached([&](const cache::Entry& entry) {
    if (entry.stays() || entry.hash().value % kTurns == turn_ % kTurns) cached.push_back(&entry);
  });
  std::sort(cached.begin(), cached.end(),
            [](const cache::Entry* a, const cache::Entry* b) { return a->db() < b->db(); });
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < cached.size(); ++i) {
    keys.push_back(cached[i]->key());
    const bool last = i + 1 == cached.size() || cached[i + 1]->db() != cached[i]->db();
    if (!last && keys.size() < kKeysPerCommand) continue;
    tracker_->touch(cached[i]->db(), keys, now);
    keys.clear();
  }
}

}  // namespace heatsink::copies
