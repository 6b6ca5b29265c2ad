// SPDX-License-Identifier: Apache-2.0
// Holds the application's callbacks for one kind of event.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace heatsink::client {

// Any thread. A callback stays until the end and may itself call any function.
template <class Event>
class Listeners {
 public:
  using Callback = std::function<void(const Event&)>;

  void add(Callback callback) {
    const std::lock_guard lock(mutex_);
    callbacks_.push_back(std::move(callback));
  }
  // A copy, which the caller calls without the lock.
  std::vector<Callback> all() const {
    const std::lock_guard lock(mutex_);
    return callbacks_;
  }
  // Calls each callback with each event, in order.
  void tell(std::span<const Event> events) const {
    if (events.empty()) return;
    const std::vector<Callback> callbacks = all();
    for (const Event& event : events)
      for (const Callback& callback : callbacks) callback(event);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Callback> callbacks_;
};

}  // namespace heatsink::client
