// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/watchdog.h"

#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::app {

void give_sign_of_life(const ServiceManager& manager, const std::function<Status()>& alive) {
  const Status status = alive();
  if (status.ok()) return manager.watchdog();
  log(LogLevel::kError, status.error().message + "; the service manager will restart the process");
  manager.status(status.error().message);
}

Watchdog::Watchdog(const ServiceManager& manager, std::function<Status()> alive)
    : manager_(manager), alive_(std::move(alive)) {
  if (manager_.watchdog_limit() > Nanos(0)) thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    give_sign_of_life(manager_, alive_);
    lock.lock();
    ended_changed_.wait_for(lock, manager_.watchdog_limit() / 2, [this] { return ended_; });
  }
}

}  // namespace heatsink::app
