// SPDX-License-Identifier: Apache-2.0
// Loads kept keys from the source: one load of a key at a time, whose value all its callers get.
#pragma once

#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/copy_guard.h"
#include "heatsink/client/counters.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/load_group.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refreshes.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/served_until.h"
#include "heatsink/client/server_link.h"

namespace heatsink::client {

// Owns the loads under way. Any thread; calls block as long as the caller's loader, or a wait for
// another caller's. Runs loaders without a lock.
class Loads {
 public:
  struct Parts {  // all outlive it
    KeptKeys& kept;
    CopyGuard& guard;
    const ServedUntil& served_until;
    Refreshes& refreshes;
    Counters& counters;
    ServerLink* server;  // null: level `ttl`
  };
  Loads(const ClientOptions& options, Runtime& runtime, const Parts& parts)
      : options_(options),
        runtime_(runtime),
        parts_(parts),
        group_(static_cast<std::size_t>(options.maximum_waiters), runtime) {}

  // Throws what the load throws, or LoadRefused. Takes a copy whose load began at `since` or later
  // instead of asking the source.
  SharedCachedValue load(KeyHash hash, const Load& load, TimePoint since = TimePoint::min());
  // Loads the key unless a load has begun since `wanted_at`: in the background, or in this call if
  // refresh.enabled is false; then it throws like load(). Other callers of the key join the load.
  void load_ahead(KeyHash hash, Load load, TimePoint wanted_at);
  // A job of Refreshes::next(), in a background thread. Does not throw.
  void refresh(const RefreshSchedule::Job& job);

 private:
  // `shared`: receives the load that this caller led or waited for.
  SharedCachedValue load_or_wait(KeyHash hash, const Load& load, TimePoint since,
                                 TimePoint not_before, std::shared_ptr<SharedLoad>& shared);
  // For the leader of a load. Both hand the result to all waiting callers.
  bool complete_with_copy(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, TimePoint since);
  bool run_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, const Load& load);
  SharedCachedValue lead_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                              const Load& load);
  // Loads as for a key that is not kept.
  SharedCachedValue load_alone(KeyHash hash, const Load& load, std::shared_ptr<SharedLoad>& shared);
  SharedCachedValue result_of(const SharedLoad& shared);  // REQUIRES that the load is complete
  SharedCachedValue stale_instead(KeyHash hash) const;
  TimePoint proven_until(KeyHash hash, const SharedCachedValue& cached,
                         TimePoint served_until) const;
  ServerLink::Watch watch(KeyHash hash, TimePoint now);
  void refresh_failed(KeyHash hash);
  TimePoint now() const noexcept { return runtime_.now(); }

  const ClientOptions& options_;
  Runtime& runtime_;
  const Parts parts_;
  LoadGroup group_;
};

}  // namespace heatsink::client
