// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/load_group.h"

#include <utility>

namespace heatsink::client {

std::shared_ptr<SharedLoad> LoadGroup::begin_if_none(std::shared_ptr<SharedLoad>& latest,
                                                     TimePoint now, TimePoint not_before) {
  if (latest != nullptr && latest->sent_at > not_before) return nullptr;
  latest = std::make_shared<SharedLoad>(now);
  return latest;
}

LoadGroup::JoinResult LoadGroup::join(KeyHash hash, TimePoint now, TimePoint not_before) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<SharedLoad>& latest = under_way_[hash];
  if (auto own = begin_if_none(latest, now, not_before)) return {Role::kLeads, std::move(own)};
  if (latest->waiters >= waiters_max_) return {Role::kRefused, nullptr};
  if (latest->completed == nullptr) latest->completed = runtime_.make_condition();
  ++latest->waiters;
  return {Role::kWaits, latest};
}

std::shared_ptr<SharedLoad> LoadGroup::lead(KeyHash hash, TimePoint now, TimePoint not_before) {
  const std::lock_guard lock(mutex_);
  return begin_if_none(under_way_[hash], now, not_before);
}

void LoadGroup::complete(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                         SharedCachedValue cached, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    shared->is_over = true;
    shared->cached = std::move(cached);
    shared->error = std::move(error);
    const auto at = under_way_.find(hash);
    // A newer load of the key may have replaced this one; it stays.
    if (at != under_way_.end() && at->second == shared) under_way_.erase(at);
  }
  if (shared->completed != nullptr) shared->completed->notify_all();
}

bool LoadGroup::wait(SharedLoad& shared, Nanos at_most) {
  std::unique_lock lock(mutex_);
  const bool in_time = wait_until(runtime_, *shared.completed, lock, runtime_.now() + at_most,
                                  [&] { return shared.is_over; });
  --shared.waiters;
  return in_time;
}

}  // namespace heatsink::client
