// SPDX-License-Identifier: Apache-2.0
// Makes the checks of a running proxy on a thread of its own: at the start, and after reconnects.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "heatsink/doctor/watch_state.h"

namespace heatsink::doctor {

// The thread makes one look at a time and logs what is new. It wakes up once a second to see
// whether the proxy has reached its server again.
class Watch {
 public:
  struct Sources {
    // Collects the facts; returns soon after `stop` is set. Called by the thread.
    std::function<Facts(When when, const std::atomic<bool>& stop)> look;
    std::function<std::uint64_t()> contacts;  // how often the proxy has reached or lost its server
  };

  explicit Watch(Sources sources);
  ~Watch();  // stops a look, and joins the thread
  Watch(const Watch&) = delete;

  // Thread-safe. `ready` is the proxy's own view (WatchState::verdict).
  Status verdict(Status ready) const;
  // Thread-safe. `ready` as above.
  Diagnosis diagnosis(Status ready) const;

 private:
  void run();
  void look();
  bool wait();

  const Sources sources_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stop_{false};
  WatchState state_;        // guarded by mutex_
  std::string checked_at_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace heatsink::doctor
