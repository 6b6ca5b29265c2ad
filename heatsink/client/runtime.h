// SPDX-License-Identifier: Apache-2.0
// The services that a Client needs: time, threads, condition variables and random seeds.
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

// Like std::condition_variable, for std::unique_lock<std::mutex>.
class Condition {
 public:
  virtual ~Condition() = default;

  // Releases the lock while it waits. May end early without a reason. `due` max: no limit.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, TimePoint due) = 0;
  virtual void notify_one() noexcept = 0;
  virtual void notify_all() noexcept = 0;
};

// A running thread; it ends by itself.
class Thread {
 public:
  virtual ~Thread() = default;  // REQUIRES join() before it
  virtual void join() = 0;
};

// Real threads and the system's clock in production; virtual time in simulations
// (docs/decisions/0028-the-library-runs-in-fibers-when-simulated.md). Must outlive every object
// made with it. Any thread may call any function.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual TimePoint now() const noexcept = 0;
  // True: now() is CLOCK_BOOTTIME, so HitClock may read the processor's counter instead.
  virtual bool has_system_time() const noexcept = 0;
  virtual std::uint64_t draw_seed() = 0;
  virtual std::unique_ptr<Condition> make_condition() = 0;
  // `name`: for the system's tools, at most 15 characters; "": the parent's name.
  virtual std::unique_ptr<Thread> spawn(const std::string& name, std::function<void()> body) = 0;
  // For an event loop in a spawned thread; null: the kernel's poller.
  virtual std::unique_ptr<net::Poller> make_poller() = 0;
};

Runtime& system_runtime();

// Waits until `is_over()` holds or `due` has come; returns is_over().
template <class Predicate>
bool wait_until(const Runtime& runtime, Condition& condition, std::unique_lock<std::mutex>& lock,
                TimePoint due, Predicate is_over) {
  while (!is_over()) {
    if (runtime.now() >= due) return false;
    condition.wait_until(lock, due);
  }
  return true;
}

// One value that one thread sets and another waits for. They share it, and either may leave first.
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
  // Empty: no value in time. Call it once.
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
