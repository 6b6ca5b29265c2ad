// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/refresh_schedule.h"

namespace heatsink::client {
namespace {

TimePoint after(TimePoint now, const RefreshOptions& options, double random) {
  const auto interval = static_cast<double>(options.interval.count());
  return now + Nanos(static_cast<std::int64_t>(interval * (1 - options.jitter * random)));
}

}  // namespace

void RefreshSchedule::wait(Keys::value_type& key, TimePoint due) {
  key.second.is_under_way = false;
  key.second.due = due;
  waiting_.insert({due, key.first.value});
}

void RefreshSchedule::loaded(KeyHash hash, Load load, TimePoint now, double random) {
  const auto [at, is_new] = keys_.try_emplace(hash);
  at->second.load = std::move(load);
  at->second.failures = 0;
  if (at->second.is_under_way) return;  // the end of the job sets the next due time
  if (!is_new) waiting_.erase({at->second.due, hash.value});
  wait(*at, after(now, options_, random));
}

void RefreshSchedule::forget(KeyHash hash) {
  const auto at = keys_.find(hash);
  if (at == keys_.end()) return;
  waiting_.erase({at->second.due, hash.value});
  keys_.erase(at);
}

bool RefreshSchedule::hurry(KeyHash hash, TimePoint now) {
  const auto at = keys_.find(hash);
  if (at == keys_.end() || at->second.is_under_way) return false;
  waiting_.erase({at->second.due, hash.value});
  wait(*at, now);
  return true;
}

std::optional<RefreshSchedule::Job> RefreshSchedule::next(TimePoint now) {
  if (waiting_.empty() || waiting_.begin()->first > now) return std::nullopt;
  const auto [due, value] = *waiting_.begin();
  const KeyHash hash{value};
  waiting_.erase(waiting_.begin());
  Key& key = keys_.at(hash);
  key.is_under_way = true;
  return Job{hash, key.load, due};
}

std::optional<TimePoint> RefreshSchedule::due_at() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->first;
}

void RefreshSchedule::succeeded(KeyHash hash, TimePoint now, double random) {
  const auto at = keys_.find(hash);
  if (at == keys_.end() || !at->second.is_under_way) return;
  at->second.failures = 0;
  wait(*at, after(now, options_, random));
}

void RefreshSchedule::skipped(KeyHash hash, TimePoint now, double random) {
  const auto at = keys_.find(hash);
  if (at != keys_.end() && at->second.is_under_way) wait(*at, after(now, options_, random));
}

bool RefreshSchedule::failed(KeyHash hash, TimePoint now, double random) {
  const auto at = keys_.find(hash);
  if (at == keys_.end() || !at->second.is_under_way) return false;
  if (++at->second.failures >= options_.failures_max) {
    keys_.erase(at);
    return true;
  }
  wait(*at, after(now, options_, random));
  return false;
}

}  // namespace heatsink::client
