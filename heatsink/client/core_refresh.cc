// SPDX-License-Identifier: Apache-2.0
// The part of a Core that loads keys in the background, before their copies expire.
#include <utility>

#include "heatsink/client/core.h"

namespace heatsink::client {

void Core::ask_refresh(KeyHash hash) {
  const std::lock_guard lock(schedule_mutex_);
  if (schedule_.hurry(hash, now())) schedule_changed_->notify_one();
}

void Core::load_ahead(KeyHash hash, Load load, TimePoint wanted_at) {
  if (!options_.refresh_enabled) {
    load_since(hash, load, wanted_at);
    return;
  }
  refresh_later(hash, std::move(load), now());
  const std::lock_guard lock(schedule_mutex_);
  if (schedule_.hurry(hash, wanted_at)) schedule_changed_->notify_one();
}

void Core::refresh_later(KeyHash hash, Load load, TimePoint loaded_at) {
  const double chance = random();
  const std::lock_guard lock(schedule_mutex_);
  schedule_.loaded(hash, std::move(load), loaded_at, chance);
  schedule_changed_->notify_one();
}

void Core::run_refresher() {
  std::unique_lock lock(schedule_mutex_);
  while (!is_closed_) {
    if (std::optional<RefreshSchedule::Job> job = schedule_.next(now())) {
      lock.unlock();
      refresh(*job);
      lock.lock();
      continue;
    }
    schedule_changed_->wait_until(lock, schedule_.due_at().value_or(TimePoint::max()));
  }
}

// Skips the key if a caller is loading it, or has loaded it since it was due. A load that ended
// after the key's demotion may have brought it back to the schedule.
void Core::refresh(const RefreshSchedule::Job& job) {
  if (!kept_.is_hot(job.hash)) {
    const std::lock_guard lock(schedule_mutex_);
    return schedule_.forget(job.hash);
  }
  const TimePoint not_before = fences_.fence(name_of(job.hash));
  const auto shared = load_group_.lead(job.hash, now(), not_before);
  const bool is_skipped = shared == nullptr || complete_with_copy(job.hash, shared, job.due);
  if (!is_skipped) {
    run_load(job.hash, shared, job.load);
    if (shared->error != nullptr) {
      refresh_failed(job.hash);
      return;
    }
    count(counters_.refreshes);
  }
  const double chance = random();
  const std::lock_guard lock(schedule_mutex_);
  if (is_skipped)
    schedule_.skipped(job.hash, now(), chance);
  else
    schedule_.succeeded(job.hash, now(), chance);
}

void Core::refresh_failed(KeyHash hash) {
  count(counters_.refresh_failures);
  const double chance = random();
  bool is_dropped = false;
  {
    const std::lock_guard lock(schedule_mutex_);
    is_dropped = schedule_.failed(hash, now(), chance);
  }
  if (!is_dropped) return;
  count(counters_.refresh_drops);
  // With stale-while-error the old copy may still serve readers when their loads fail.
  if (options_.stale_while_error == Nanos(0)) kept_.drop(hash);
}

}  // namespace heatsink::client
