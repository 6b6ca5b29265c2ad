// SPDX-License-Identifier: Apache-2.0
// The part of a Core that loads in the background, before copies expire.
#include <utility>

#include "heatsink/client/core.h"

namespace heatsink::client {

void Core::ask_refresh(KeyHash hash) {
  const std::lock_guard lock(schedule_mutex_);
  if (schedule_.hurry(hash, BootClock::now())) schedule_changed_.notify_one();
}

void Core::load_soon(KeyHash hash, Load load) {
  refresh_later(hash, std::move(load), BootClock::now());
  ask_refresh(hash);
}

void Core::refresh_later(KeyHash hash, Load load, TimePoint loaded_at) {
  const double chance = random();
  const std::lock_guard lock(schedule_mutex_);
  schedule_.loaded(hash, std::move(load), loaded_at, chance);
  schedule_changed_.notify_one();
}

void Core::run_refresher() {
  std::unique_lock lock(schedule_mutex_);
  while (!is_closed_) {
    if (std::optional<RefreshSchedule::Job> job = schedule_.next(BootClock::now())) {
      lock.unlock();
      refresh(*job);
      lock.lock();
      continue;
    }
    const std::optional<TimePoint> due = schedule_.due_at();
    if (due)
      schedule_changed_.wait_for(lock, *due - BootClock::now());
    else
      schedule_changed_.wait(lock);
  }
}

void Core::refresh(const RefreshSchedule::Job& job) {
  const TimePoint sent_at = BootClock::now();
  try {
    const Watch watched = watch(job.hash, sent_at);
    const std::shared_ptr<Box> box = job.load();
    set_times(*box, sent_at, BootClock::now(), watched.deadline);
    keep(job.hash, watched, box, false);
  } catch (...) {
    count(counters_.refresh_failures);
    const double chance = random();
    bool is_dropped = false;
    {
      const std::lock_guard lock(schedule_mutex_);
      is_dropped = schedule_.failed(job.hash, BootClock::now(), chance);
    }
    if (!is_dropped) return;
    count(counters_.refresh_drops);
    if (options_.stale_while_error == Nanos(0)) hot_.drop(job.hash);
    return;
  }
  count(counters_.refreshes);
  const double chance = random();
  const std::lock_guard lock(schedule_mutex_);
  schedule_.succeeded(job.hash, BootClock::now(), chance);
}

}  // namespace heatsink::client
