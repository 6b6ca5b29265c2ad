// SPDX-License-Identifier: Apache-2.0
// Limits each hot key to one load at a time; the other callers wait for it, up to a time limit.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/runtime.h"

namespace heatsink::client {

// A load under way. Whoever holds one may look at sent_at; its leader sets value_ends before it
// lands, and who has waited may look at it then, and at cached and error. The rest is LoadGroup'.
struct SharedLoad {
  explicit SharedLoad(TimePoint at) : sent_at(at) {}
  const TimePoint sent_at;
  TimePoint value_ends = TimePoint::max();  // by its own TTL, at the earliest

  std::unique_ptr<Condition> completed;  // null: nobody has waited yet
  bool is_over = false;
  SharedCachedValue cached;
  std::exception_ptr error;
  std::size_t waiters = 0;
};

// Any thread. Nothing is called back under the lock.
class LoadGroup {
 public:
  explicit LoadGroup(std::size_t waiters_max, Runtime& runtime = system_runtime())
      : waiters_max_(waiters_max), runtime_(runtime) {}

  enum class Role { kLeads, kWaits, kRefused };
  struct JoinResult {
    Role role;
    std::shared_ptr<SharedLoad> shared;  // null: refused, for waiters_max wait already
  };

  // The leader loads, and must complete() whatever happens. A shared sent at or before `not_before`
  // may bring what is known to be old, so nobody joins it any more: the next in line leads another.
  JoinResult join(KeyHash hash, TimePoint now, TimePoint not_before);
  // The same for a load that nobody waits for yet: null if there is one that join() would join.
  std::shared_ptr<SharedLoad> lead(KeyHash hash, TimePoint now, TimePoint not_before);

  // Hands cached or error to all who wait.
  void complete(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, SharedCachedValue cached,
                std::exception_ptr error);

  // REQUIRES Role::kWaits. False: it has not landed in time.
  bool wait(SharedLoad& shared, Nanos at_most);

 private:
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  // Under mutex_. Null: `latest` can be joined.
  static std::shared_ptr<SharedLoad> begin_if_none(std::shared_ptr<SharedLoad>& latest,
                                                   TimePoint now, TimePoint not_before);

  const std::size_t waiters_max_;
  Runtime& runtime_;
  std::mutex mutex_;
  std::unordered_map<KeyHash, std::shared_ptr<SharedLoad>, HashOfHash> under_way_;
};

}  // namespace heatsink::client
