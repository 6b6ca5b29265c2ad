// SPDX-License-Identifier: Apache-2.0
// Tells the service manager that the process works, so that it restarts one that is stuck.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "apps/heatsink/process/service_manager.h"

namespace heatsink::app {

// Sends one sign of life if `alive` is ok; else logs why not. The service manager restarts the
// process when no sign has come for its limit.
void give_sign_of_life(const ServiceManager& manager, const std::function<Status()>& alive);

// A thread of its own that does so twice per limit, because a stuck thread cannot speak for itself,
// and must not be spoken for by a timer. Without a limit there is no thread. `alive` must not wait.
class Watchdog {
 public:
  // `manager` and what `alive` uses outlive it.
  Watchdog(const ServiceManager& manager, std::function<Status()> alive);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run();

  const ServiceManager& manager_;
  const std::function<Status()> alive_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace heatsink::app
