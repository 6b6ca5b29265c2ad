// SPDX-License-Identifier: Apache-2.0
// Keeps a server that evicts by use from evicting keys whose reads are served elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// The keeper's thread. Under allkeys-lru the server evicted a locally served hot key after 5.5 s.
// One TOUCH per second keeps the key, as a client's reads would. A key that is not hot has fewer
// readers, and tens of thousands of them may have a copy: one TOUCH in kTurns seconds each. A key
// that replicas answer looks as idle to the master, which evicts it there and on the replicas.
class IdleKeepAlive {
 public:
  static constexpr Nanos kInterval = std::chrono::seconds(1);
  // CONFIG SET may change the policy.
  static constexpr Nanos kAskInterval = std::chrono::seconds(10);
  static constexpr std::uint64_t kTurns = 10;
  static constexpr std::size_t kKeysPerCommand = 128;  // about 20 us of the server's time

  IdleKeepAlive(const cache::HotTable& table, redis::FillSource& tracker)
      : table_(table), tracker_(&tracker) {}
  void use(redis::FillSource& tracker) { tracker_ = &tracker; }

  struct Key {
    std::uint32_t db = 0;
    std::string name;
  };
  // The keys that are read from replicas now.
  void set_read_from_replicas(std::vector<Key> keys) { at_replicas_ = std::move(keys); }

  // Call it every kInterval. O(keys with a copy, or read from replicas).
  void touch_keys(TimePoint now);

 private:
  void touch_all(TimePoint now);

  const cache::HotTable& table_;
  redis::FillSource* tracker_;
  std::vector<Key> at_replicas_;
  TimePoint asked_at_{};
  std::uint64_t turn_ = 0;
};

}  // namespace heatsink::copies
