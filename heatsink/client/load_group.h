// SPDX-License-Identifier: Apache-2.0
// Limits each kept key to one load at a time; other callers wait for it, up to a time limit.
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

// A load under way. Any holder may read sent_at. The leader sets value_ends before it calls
// complete(). Callers that have waited may read value_ends, cached and error afterwards. The other
// members belong to LoadGroup.
struct SharedLoad {
  explicit SharedLoad(TimePoint at) : sent_at(at) {}
  const TimePoint sent_at;
  // The value is right for callers that came before this time. After it, the value's own TTL may be
  // over, or the server may have another value.
  TimePoint value_ends = TimePoint::max();

  std::unique_ptr<Condition> completed;  // null: no caller has waited yet
  bool is_over = false;
  SharedCachedValue cached;
  std::exception_ptr error;
  std::size_t waiters = 0;
};

// Single-flight, like Go's singleflight.Group. Any thread. Calls nothing back under its lock.
class LoadGroup {
 public:
  explicit LoadGroup(std::size_t waiters_max, Runtime& runtime = system_runtime())
      : waiters_max_(waiters_max), runtime_(runtime) {}

  enum class Role { kLeads, kWaits, kRefused };
  struct JoinResult {
    Role role;
    std::shared_ptr<SharedLoad> shared;  // null: refused, because waiters_max callers already wait
  };

  // The leader loads, and must call complete() in any case. A load sent at or before `not_before`
  // may return an outdated value, so no caller joins it any more: the next caller leads a new one.
  JoinResult join(KeyHash hash, TimePoint now, TimePoint not_before);
  // For a load without a waiting caller. Null: there is a load that join() would join.
  std::shared_ptr<SharedLoad> lead(KeyHash hash, TimePoint now, TimePoint not_before);

  // Hands the value or the error to all waiting callers.
  void complete(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, SharedCachedValue cached,
                std::exception_ptr error);

  // REQUIRES Role::kWaits. False: the load did not complete in time.
  bool wait(SharedLoad& shared, Nanos at_most);

 private:
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  // REQUIRES mutex_. Null: `latest` can be joined.
  static std::shared_ptr<SharedLoad> begin_if_none(std::shared_ptr<SharedLoad>& latest,
                                                   TimePoint now, TimePoint not_before);

  const std::size_t waiters_max_;
  Runtime& runtime_;
  std::mutex mutex_;
  std::unordered_map<KeyHash, std::shared_ptr<SharedLoad>, HashOfHash> under_way_;
};

}  // namespace heatsink::client
