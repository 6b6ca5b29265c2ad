// SPDX-License-Identifier: Apache-2.0
// The part of a Core that follows the selector: which keys are kept because they are hot.
#include <algorithm>
#include <mutex>
#include <utility>

#include "heatsink/client/core.h"

namespace heatsink::client {

std::vector<HotEvent> Core::apply(const std::vector<detect::Change>& changes, TimePoint now) {
  std::vector<HotEvent> events;
  for (const detect::Change& change : changes) {
    const detect::KeyCount& key = change.verdict.count;
    if (change.kind == detect::Change::Kind::kNotice) continue;
    const bool is_hot = change.kind == detect::Change::Kind::kPromote;
    count(is_hot ? counters_.promotions : counters_.demotions);
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

// Demotes keys whose warming has ended and whose own rate is not hot.
void Core::cool_down(TimePoint now) {
  for (auto at = warmed_.begin(); at != warmed_.end();) {
    if (at->second > now) {
      ++at;
      continue;
    }
    const KeyHash hash{at->first};
    const auto& verdicts = selector_.verdicts();
    const bool is_hot = std::any_of(verdicts.begin(), verdicts.end(), [&](const auto& verdict) {
      return verdict.count.hash == hash && verdict.temperature == detect::Temperature::kHot;
    });
    if (!is_hot) forget(hash);
    at = warmed_.erase(at);
  }
}

// The copy of a key that was hot may still pay. Its loader goes.
void Core::forget(KeyHash hash) {
  if (admission_ != nullptr)
    kept_.cool(hash);
  else
    kept_.remove(hash);
  const std::lock_guard lock(schedule_mutex_);
  schedule_.forget(hash);
}

}  // namespace heatsink::client
