// SPDX-License-Identifier: Apache-2.0
// Tells a server that evicts by use which keys are in use although it does not see them read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// The keeper's thread. Under allkeys-lru a key served locally was evicted after 5.5 s; a TOUCH per
// second keeps it, as every read of a client would.
class IdleKeepAlive {
 public:
  static constexpr Nanos kInterval = std::chrono::seconds(1);
  static constexpr Nanos kAskInterval = std::chrono::seconds(10);  // CONFIG SET may change it
  static constexpr std::size_t kKeysPerCommand = 128;              // about 20 us of the server

  IdleKeepAlive(const cache::HotTable& table, redis::Tracker& tracker)
      : table_(table), tracker_(tracker) {}

  // Every kInterval: all keys that have a copy, at most one TOUCH per key. O(hot keys).
  void touch_keys(TimePoint now);

 private:
  void touch_all(TimePoint now);

  const cache::HotTable& table_;
  redis::Tracker& tracker_;
  TimePoint asked_at_{};
};

}  // namespace heatsink::copies
