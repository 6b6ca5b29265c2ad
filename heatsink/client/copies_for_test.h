// SPDX-License-Identifier: Apache-2.0
// For tests in one thread: kept keys, and the parts of a Core that act on them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/admit/admit.h"
#include "heatsink/client/chance.h"
#include "heatsink/client/copy_guard.h"
#include "heatsink/client/counters.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/life.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refreshes.h"
#include "heatsink/client/runtime_for_test.h"
#include "heatsink/client/served_until.h"
#include "heatsink/client/server_link.h"

namespace heatsink::client {

constexpr char kSomeServer[] = "redis://127.0.0.1:1";  // never asked

inline KeyHash hash_for_test(std::string_view key) { return in_db(hash_name(key, 1), 0); }
inline std::shared_ptr<CachedValue> value_of(int n) {
  return std::make_shared<CachedValueOf<int>>(n);
}

struct CopiesForTest {
  explicit CopiesForTest(const ClientOptions& given = {},
                         admit::AdmissionState* admission = nullptr)
      : options(given),
        kept({.keys = 100, .missing = 10, .bytes = SIZE_MAX}),
        guard(options, runtime,
              {.kept = kept, .chance = chance, .life = life, .admission = admission}),
        refreshes(options, runtime, chance) {}

  // The number in the key's copy; 0: there is none.
  int copy(std::string_view key) const {
    const SharedCachedValue cached = kept.copy(hash_for_test(key));
    return cached == nullptr ? 0 : static_cast<const CachedValueOf<int>&>(*cached).value;
  }
  // A load that begins now, of a server that tracks the key from now on.
  ServerLink::Watch watch() const { return {.is_tracked = true, .tracked_at = runtime.time}; }
  void pass(Nanos time) { runtime.time += time; }
  // The end of a load that began a second ago.
  CopyGuard::KeepResult keep(std::string_view key, int n) {
    const ServerLink::Watch begun = watch();
    pass(std::chrono::seconds(1));
    const std::shared_ptr<CachedValue> value = value_of(n);
    guard.set_times(*value, begun.tracked_at, runtime.time, begun.deadline);
    return guard.keep(hash_for_test(key), begun, value);
  }

  const ClientOptions options;
  PlayedRuntime runtime;
  Chance chance{1};
  Life life;
  Counters counters;
  KeptKeys kept;
  ServedUntil served_until{TimePoint::max()};
  CopyGuard guard;
  Refreshes refreshes;
};

}  // namespace heatsink::client
