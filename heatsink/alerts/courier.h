// SPDX-License-Identifier: Apache-2.0
// Delivers to one target on a thread of its own, so that a slow target holds up nothing else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/alerts/delivery.h"
#include "heatsink/alerts/targets.h"

namespace heatsink::alerts {

// Thread-safe. The destructor ends an attempt, and drops what waits.
class Courier {
 public:
  Courier(Target target, Nanos retry_for);  // throws std::system_error if no thread can be started
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Takes a lock that is never held while a target is waited for.
  void post(std::vector<Notice> notices);

  struct Counts {
    std::uint64_t delivered = 0;  // notices
    std::uint64_t failed = 0;     // attempts
    std::uint64_t dropped_full = 0, dropped_late = 0, dropped_refused = 0;
    std::size_t waiting = 0;
  };
  Counts counts() const;
  std::vector<Notice> undelivered() const;  // oldest first
  const std::string& label() const { return target_.label; }

 private:
  void run();
  void attempt(std::unique_lock<std::mutex>& lock, const std::vector<Notice>& message);
  void say(const Outcome& outcome);

  const Target target_;
  mutable std::mutex mutex_;  // guards delivery_, counts_
  std::condition_variable changed_;
  Delivery delivery_;
  Counts counts_;
  std::string problem_;  // of the last attempt; only the thread uses it
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace heatsink::alerts
