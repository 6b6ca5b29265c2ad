// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/refreshes.h"

#include <algorithm>
#include <utility>

namespace heatsink::client {
namespace {

RefreshOptions refresh_options(const ClientOptions& options) {
  return {.interval = std::min(options.refresh_interval, options.expire_after_write * 3 / 4),
          .jitter = options.refresh_jitter,
          .failures_max = static_cast<std::uint32_t>(options.max_failures)};
}

}  // namespace

Refreshes::Refreshes(const ClientOptions& options, Runtime& runtime, Chance& chance)
    : runtime_(runtime), chance_(chance), schedule_(refresh_options(options)) {}

void Refreshes::loaded(KeyHash hash, Load load, TimePoint loaded_at) {
  const double random = chance_.draw();
  const std::lock_guard lock(mutex_);
  schedule_.loaded(hash, std::move(load), loaded_at, random);
  changed_->notify_one();
}

void Refreshes::hurry(KeyHash hash, TimePoint wanted_at) {
  const std::lock_guard lock(mutex_);
  if (schedule_.hurry(hash, wanted_at)) changed_->notify_one();
}

void Refreshes::forget(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  schedule_.forget(hash);
}

std::optional<RefreshSchedule::Job> Refreshes::next() {
  std::unique_lock lock(mutex_);
  while (!is_closed_) {
    if (std::optional<RefreshSchedule::Job> job = schedule_.next(runtime_.now())) return job;
    changed_->wait_until(lock, schedule_.due_at().value_or(TimePoint::max()));
  }
  return std::nullopt;
}

void Refreshes::succeeded(KeyHash hash) {
  const double random = chance_.draw();
  const std::lock_guard lock(mutex_);
  schedule_.succeeded(hash, runtime_.now(), random);
}

void Refreshes::skipped(KeyHash hash) {
  const double random = chance_.draw();
  const std::lock_guard lock(mutex_);
  schedule_.skipped(hash, runtime_.now(), random);
}

bool Refreshes::failed(KeyHash hash) {
  const double random = chance_.draw();
  const std::lock_guard lock(mutex_);
  return schedule_.failed(hash, runtime_.now(), random);
}

// Under the lock: otherwise a thread could check is_closed_ just before, and then miss the
// notification.
void Refreshes::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_->notify_all();
}

}  // namespace heatsink::client
