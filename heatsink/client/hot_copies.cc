// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hot_copies.h"

#include <algorithm>

namespace heatsink::client {

bool HotCopies::warm(std::string_view key, KeyHash hash, TimePoint until) {
  const std::lock_guard lock(mutex_);
  if (!parts_.kept.is_hot(hash)) {
    if (parts_.kept.held().hot >= static_cast<std::size_t>(options_.maximum_size)) return false;
    make_hot(key, hash);
  }
  TimePoint& warmed = warmed_[hash.value];
  warmed = std::max(warmed, until);
  return true;
}

void HotCopies::make_hot(std::string_view key, KeyHash hash) {
  parts_.guard.raise_fence_of_cold(hash);
  parts_.kept.make_hot(key, hash);
}

std::vector<HotEvent> HotCopies::follow(std::span<const detect::Change> changes, TimePoint now) {
  std::vector<HotEvent> events;
  const std::lock_guard lock(mutex_);
  for (const detect::Change& change : changes) {
    const detect::KeyCount& key = change.verdict.count;
    if (change.kind == detect::Change::Kind::kNotice) continue;
    const bool is_hot = change.kind == detect::Change::Kind::kPromote;
    count(is_hot ? parts_.counters.promotions : parts_.counters.demotions);
    const auto warmed = warmed_.find(key.hash.value);
    const bool is_warmed = warmed != warmed_.end() && warmed->second > now;
    if (is_hot && !key.key_truncated) {
      make_hot(key.key, key.hash);
      limit_earned(key.hash);
    }
    if (!is_hot && !is_warmed) forget(key.hash);
    events.push_back({key.key, is_hot, change.verdict.reason});
  }
  return events;
}

void HotCopies::cool_down(TimePoint now) {
  const std::lock_guard lock(mutex_);
  for (auto at = warmed_.begin(); at != warmed_.end();) {
    if (at->second > now) {
      ++at;
      continue;
    }
    const KeyHash hash{at->first};
    if (!parts_.hot_keys.is_hot(hash)) forget(hash);
    at = warmed_.erase(at);
  }
}

// The copy of a key that was hot may still pay. Its loader goes.
void HotCopies::forget(KeyHash hash) {
  if (parts_.keeps_cold)
    parts_.kept.cool(hash);
  else
    parts_.kept.remove(hash);
  parts_.refreshes.forget(hash);
}

// A hot key is refreshed every refresh.interval. The loader of a copy that was earned before is not
// known: it would keep too much alive for each key. So that copy ends when its refresh is due, and
// the next reader brings its loader.
void HotCopies::limit_earned(KeyHash hash) {
  if (!options_.refresh_enabled) return;
  const SharedCachedValue cached = parts_.kept.copy(hash);
  if (cached == nullptr) return;
  const TimePoint due = cached->loaded_at + parts_.refreshes.interval();
  if (earned_before_.size() == kEarnedBeforeMax) return parts_.kept.drop(hash);
  earned_before_.push_back({hash, cached->loaded_at, due});
}

void HotCopies::drop_due(TimePoint now) {
  std::erase_if(earned_before_, [&](const EarnedBefore& each) {
    if (each.due > now) return false;
    const SharedCachedValue cached = parts_.kept.copy(each.hash);
    const bool is_the_same = cached != nullptr && cached->loaded_at == each.loaded_at;
    if (is_the_same && parts_.kept.is_hot(each.hash)) parts_.kept.drop(each.hash);
    return true;
  });
}

}  // namespace heatsink::client
