// SPDX-License-Identifier: Apache-2.0
// What a Client needs from its process: time, threads, condition variables and random seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/base/clock.h"

namespace heatsink::net {
class Poller;
}

namespace heatsink::client {

// As std::condition_variable, for std::unique_lock<std::mutex>.
class Condition {
 public:
  virtual ~Condition() = default;

  // Releases the lock while it waits. May end early, for no reason. `due` max: no limit.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, TimePoint due) = 0;
  virtual void notify_one() noexcept = 0;
  virtual void notify_all() noexcept = 0;
};

// A thread that runs; ends by itself.
class Thread {
 public:
  virtual ~Thread() = default;  // REQUIRES join() before it
  virtual void join() = 0;
};

// Real threads and the system's clock in production; a simulation plays another, with virtual time
// (docs/decisions/0028-the-library-runs-in-fibers-when-simulated.md). Outlives every object that
// was made with it. Any thread may call anything.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual TimePoint now() const noexcept = 0;
  // now() is CLOCK_BOOTTIME, so a processor's counter may stand in for it (HitClock).
  virtual bool has_system_time() const noexcept = 0;
  virtual std::uint64_t draw_seed() = 0;
  virtual std::unique_ptr<Condition> make_condition() = 0;
  // `name`: as the system shows it, at most 15 characters; "": as its parent.
  virtual std::unique_ptr<Thread> spawn(const std::string& name, std::function<void()> body) = 0;
  // For an event loop that a spawned thread then runs; null: the kernel's.
  virtual std::unique_ptr<net::Poller> make_poller() = 0;
};

Runtime& system_runtime();

// Waits until `is_over()` holds, or the moment has come; returns is_over().
template <class Predicate>
bool wait_until(const Runtime& runtime, Condition& condition, std::unique_lock<std::mutex>& lock,
                TimePoint due, Predicate is_over) {
  while (!is_over()) {
    if (runtime.now() >= due) return false;
    condition.wait_until(lock, due);
  }
  return true;
}

// One value that one thread sets and one waits for. Shared by both: either may be gone first.
template <class T>
class Awaited {
 public:
  explicit Awaited(Runtime& runtime) : runtime_(runtime), is_set_(runtime.make_condition()) {}

  void set(T value) {
    {
      const std::lock_guard lock(mutex_);
      value_ = std::move(value);
    }
    is_set_->notify_one();
  }
  // None: it was not set in time. Once.
  std::optional<T> wait_for(Nanos at_most) {
    std::unique_lock lock(mutex_);
    wait_until(runtime_, *is_set_, lock, runtime_.now() + at_most,
               [this] { return value_.has_value(); });
    return std::exchange(value_, std::nullopt);
  }

 private:
  Runtime& runtime_;
  const std::unique_ptr<Condition> is_set_;
  std::mutex mutex_;
  std::optional<T> value_;
};

}  // namespace heatsink::client
