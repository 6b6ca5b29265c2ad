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
  std::vector<std::pair<std::uint32_t, std::string_view>> idle;
  ++turn_;
  table_.for_each_cached([&](const cache::Entry& entry) {
    if (entry.stays() || entry.hash().value % kTurns == turn_ % kTurns)
      idle.emplace_back(entry.db(), entry.key());
  });
  for (const Key& key : at_replicas_) idle.emplace_back(key.db, key.name);
  std::ranges::stable_sort(idle, {}, &decltype(idle)::value_type::first);
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const auto& [db, key] = idle[i];
    keys.push_back(key);
    const bool last = i + 1 == idle.size() || idle[i + 1].first != db;
    if (!last && keys.size() < kKeysPerCommand) continue;
    tracker_->touch(db, keys, now);
    keys.clear();
  }
}

}  // namespace heatsink::copies
