// SPDX-License-Identifier: Apache-2.0
// The yardstick: hot keys as one would count them first. The 10 000 keys used last, each with a
// ring of slots, in one map for all threads behind one mutex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"

namespace heatsink::bench {

// Thread-safe. Looking a key up makes no copy of its name; only a key that is new allocates.
class NaiveDetector {
 public:
  static constexpr std::size_t kKeysMax = 10'000;
  static constexpr std::int64_t kSlots = 10;

  // The accesses of this key in the window, this one included.
  std::uint64_t record(std::string_view key, TimePoint now) {
    const std::int64_t turn = now.time_since_epoch() / std::chrono::seconds(1);
    const std::lock_guard lock(mutex_);
    Key& entry = touch(key);
    entry.count(turn);
    return entry.total;
  }

 private:
  struct Key {
    std::string name;
    std::array<std::uint32_t, kSlots> slots{};
    std::int64_t turn = 0;
    std::uint64_t total = 0;

    void count(std::int64_t now) {
      if (now - turn >= kSlots) {
        slots.fill(0);
        total = 0;
        turn = now;
      }
      while (turn < now) {
        std::uint32_t& oldest = slots[static_cast<std::size_t>(++turn % kSlots)];
        total -= oldest;
        oldest = 0;
      }
      ++slots[static_cast<std::size_t>(turn % kSlots)];
      ++total;
    }
  };

  Key& touch(std::string_view name) {
    if (const auto found = places_.find(name); found != places_.end()) {
      keys_.splice(keys_.begin(), keys_, found->second);
      return keys_.front();
    }
    if (keys_.size() == kKeysMax) {
      places_.erase(keys_.back().name);
      keys_.pop_back();
    }
    keys_.emplace_front().name = name;
    places_.emplace(keys_.front().name, keys_.begin());
    return keys_.front();
  }

  std::mutex mutex_;
  std::list<Key> keys_;  // the one used last in front
  std::unordered_map<std::string_view, std::list<Key>::iterator> places_;  // names lie in keys_
};

}  // namespace heatsink::bench
