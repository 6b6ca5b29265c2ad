// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/loads.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "heatsink/client/errors.h"

namespace heatsink::client {

// A caller that joined a load whose value had already ended needs a later one.
SharedCachedValue Loads::load(KeyHash hash, const Load& load, TimePoint since) {
  const TimePoint wanted_at = now();
  TimePoint not_before = parts_.guard.fence(hash);
  for (;;) {
    std::shared_ptr<SharedLoad> shared;
    SharedCachedValue cached = load_or_wait(hash, load, since, not_before, shared);
    const bool is_late = wanted_at >= shared->value_ends;
    if (!is_late) return cached;
    not_before = std::max(parts_.guard.fence(hash), wanted_at);
  }
}

void Loads::load_ahead(KeyHash hash, Load load, TimePoint wanted_at) {
  if (!options_.refresh_enabled) {
    this->load(hash, load, wanted_at);
    return;
  }
  parts_.refreshes.loaded(hash, std::move(load), now());
  parts_.refreshes.hurry(hash, wanted_at);
}

SharedCachedValue Loads::load_or_wait(KeyHash hash, const Load& load, TimePoint since,
                                      TimePoint not_before, std::shared_ptr<SharedLoad>& shared) {
  const LoadGroup::JoinResult joined = group_.join(hash, now(), not_before);
  shared = joined.shared;
  switch (joined.role) {
    case LoadGroup::Role::kLeads:
      return complete_with_copy(hash, shared, since) ? shared->cached
                                                     : lead_load(hash, shared, load);
    case LoadGroup::Role::kRefused:
      if (!parts_.kept.is_hot(hash)) return load_alone(hash, load, shared);
      count(parts_.counters.refusals);
      throw LoadRefused("cache.maximum-waiters callers already wait for the load of this key");
    case LoadGroup::Role::kWaits:
      break;
  }
  count(parts_.counters.waits);
  if (!group_.wait(*shared, options_.wait_timeout)) {
    if (!parts_.kept.is_hot(hash)) return load_alone(hash, load, shared);
    count(parts_.counters.refusals);
    throw LoadRefused(
        "the load of this key, started by another caller, took longer than cache.wait-timeout");
  }
  return result_of(*shared);
}

SharedCachedValue Loads::load_alone(KeyHash hash, const Load& load,
                                    std::shared_ptr<SharedLoad>& shared) {
  shared = std::make_shared<SharedLoad>(now());
  count(parts_.counters.source_loads);
  SharedCachedValue value = load();
  parts_.guard.end_cold_load(hash);
  return value;
}

SharedCachedValue Loads::result_of(const SharedLoad& shared) {
  if (shared.cached == nullptr) std::rethrow_exception(shared.error);
  if (shared.error != nullptr) count(parts_.counters.stale_served);
  return shared.cached;
}

// Another load may have completed between the caller's look-up and the load that it leads now. Its
// copy is checked like a hit, but after this load has begun: joined callers need a copy that is
// newer than every fence, and a new fence drops the copy.
bool Loads::complete_with_copy(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                               TimePoint since) {
  const TimePoint now = this->now();
  const TimePoint served_until = parts_.served_until.of(0);  // before the copy, as in a hit
  SharedCachedValue cached = parts_.kept.copy(hash);
  if (cached == nullptr || cached->loaded_at < since) return false;
  const TimePoint ends = std::min(cached->expires_at, proven_until(hash, cached, served_until));
  if (now >= ends) return false;
  shared->value_ends = ends;
  group_.complete(hash, shared, std::move(cached), nullptr);
  return true;
}

// `served_until`: of the one server, read before the copy. For a node see
// Core::is_proven_by_node().
TimePoint Loads::proven_until(KeyHash hash, const SharedCachedValue& cached,
                              TimePoint served_until) const {
  if (cached->server == 0) return served_until;
  const TimePoint until = parts_.served_until.of(cached->server);
  return parts_.kept.copy(hash) == cached ? until : TimePoint::min();
}

// Call it before the load, so that the server notifies the client of every later change. Without a
// server the load counts from its beginning.
ServerLink::Watch Loads::watch(KeyHash hash, TimePoint now) {
  if (parts_.server == nullptr) return {.is_tracked = true, .tracked_at = now};
  const std::string name = parts_.kept.name(hash);
  return name.empty() ? ServerLink::Watch{} : parts_.server->watch(name);
}

// Returns true if the value is now the copy.
bool Loads::run_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, const Load& load) {
  SharedCachedValue cached;
  std::exception_ptr error;
  bool is_kept = false;
  count(parts_.counters.source_loads);
  try {
    // Before the load: otherwise a change during the load would be missed.
    const ServerLink::Watch watched = watch(hash, shared->sent_at);
    const TimePoint read_at = now();
    std::shared_ptr<CachedValue> fresh = load();
    parts_.guard.set_times(*fresh, shared->sent_at, now(), watched.deadline);
    fresh->server = watched.server;
    // Before keep(), as in a hit.
    const TimePoint served_until = parts_.served_until.of(watched.server);
    const CopyGuard::KeepResult kept = parts_.guard.keep(hash, watched, fresh);
    is_kept = kept.is_kept;
    // The value suits every caller that came until read_at. A later caller needs the proof of a
    // hit: otherwise the key may have changed, or ended, before that caller came.
    if (parts_.server != nullptr) {
      const TimePoint proven_until = std::min(watched.deadline, served_until);
      shared->value_ends = read_at + Nanos(1);
      if (kept.is_unchanged) shared->value_ends = std::max(shared->value_ends, proven_until);
    }
    cached = std::move(fresh);
  } catch (...) {
    error = std::current_exception();
    cached = stale_instead(hash);
  }
  group_.complete(hash, shared, std::move(cached), std::move(error));
  return is_kept;
}

SharedCachedValue Loads::lead_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                                   const Load& load) {
  count(parts_.counters.loads);
  const bool is_kept = run_load(hash, shared, load);
  if (shared->error != nullptr) count(parts_.counters.load_failures);
  if (is_kept && options_.refresh_enabled && parts_.kept.is_hot(hash))
    parts_.refreshes.loaded(hash, load, shared->cached->loaded_at);
  return result_of(*shared);
}

// Null: no copy is young enough.
SharedCachedValue Loads::stale_instead(KeyHash hash) const {
  if (parts_.server != nullptr) return nullptr;
  SharedCachedValue old = parts_.kept.copy(hash);
  const bool may = old != nullptr && now() < old->expires_at + options_.stale_while_error;
  return may ? old : nullptr;
}

// ---- in the background

// Skips the key if a caller is loading it, or has loaded it since it was due. A load that ended
// after the key's demotion may have brought it back to the schedule.
void Loads::refresh(const RefreshSchedule::Job& job) {
  if (!parts_.kept.is_hot(job.hash)) return parts_.refreshes.forget(job.hash);
  const TimePoint not_before = parts_.guard.fence(job.hash);
  const auto shared = group_.lead(job.hash, now(), not_before);
  if (shared == nullptr || complete_with_copy(job.hash, shared, job.due))
    return parts_.refreshes.skipped(job.hash);
  run_load(job.hash, shared, job.load);
  if (shared->error != nullptr) return refresh_failed(job.hash);
  count(parts_.counters.refreshes);
  parts_.refreshes.succeeded(job.hash);
}

void Loads::refresh_failed(KeyHash hash) {
  count(parts_.counters.refresh_failures);
  if (!parts_.refreshes.failed(hash)) return;
  count(parts_.counters.refresh_drops);
  // With stale-while-error the old copy may still serve readers when their loads fail.
  if (options_.stale_while_error == Nanos(0)) parts_.kept.drop(hash);
}

}  // namespace heatsink::client
