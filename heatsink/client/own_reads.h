// SPDX-License-Identifier: Apache-2.0
// Remembers which loads have read their key over the library's own connections.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <thread>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::client {

// The library's own read asks the server that tracks the key. Where a loader of the application
// reads is not known: its client may still ask a master that has just been replaced. A load runs in
// one thread from its watch to its end, so a read of the same key by the same thread is its own.
//
// Any thread. O(1); 24 KiB. Keys that collide forget each other.
class OwnReads {
 public:
  void note(KeyHash key, TimePoint now) {
    const std::lock_guard lock(mutex_);
    entry_of(key) = {key, std::this_thread::get_id(), now};
  }
  // The calling thread has read the key then or later.
  bool has(KeyHash key, TimePoint since) {
    const std::lock_guard lock(mutex_);
    const Entry& entry = entry_of(key);
    return entry.key == key && entry.thread == std::this_thread::get_id() && entry.at >= since;
  }

 private:
  struct Entry {
    KeyHash key{};
    std::thread::id thread;
    TimePoint at = TimePoint::min();
  };
  static constexpr std::size_t kEntries = 1024;
  Entry& entry_of(KeyHash key) { return entries_[key.value % kEntries]; }

  std::mutex mutex_;
  std::array<Entry, kEntries> entries_{};
};

}  // namespace heatsink::client
