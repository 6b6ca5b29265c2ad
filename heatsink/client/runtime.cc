// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/runtime.h"

#include <pthread.h>

#include <condition_variable>
#include <random>
#include <thread>

#include "heatsink/net/net.h"

namespace heatsink::client {
namespace {

class SystemCondition final : public Condition {
 public:
  // Waits by the steady clock, because no wait supports CLOCK_BOOTTIME, the clock of `due`. The
  // caller checks the time again.
  void wait_until(std::unique_lock<std::mutex>& lock, TimePoint due) override {
    if (due == TimePoint::max())
      condition_.wait(lock);
    else
      condition_.wait_for(lock, due - BootClock::now());
  }
  void notify_one() noexcept override { condition_.notify_one(); }
  void notify_all() noexcept override { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

class SystemThread final : public Thread {
 public:
  SystemThread(const std::string& name, std::function<void()> body)
      : thread_([name, body = std::move(body)] {
          if (!name.empty()) pthread_setname_np(pthread_self(), name.c_str());
          body();
        }) {}
  void join() override { thread_.join(); }

 private:
  std::thread thread_;
};

class SystemRuntime final : public Runtime {
 public:
  TimePoint now() const noexcept override { return BootClock::now(); }
  bool has_system_time() const noexcept override { return true; }
  std::uint64_t draw_seed() override {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }
  std::unique_ptr<Condition> make_condition() override {
    return std::make_unique<SystemCondition>();
  }
  std::unique_ptr<Thread> spawn(const std::string& name, std::function<void()> body) override {
    return std::make_unique<SystemThread>(name, std::move(body));
  }
  std::unique_ptr<net::Poller> make_poller() override { return nullptr; }
};

}  // namespace

// Never destroyed: a Client in static storage may outlive main().
Runtime& system_runtime() {
  static Runtime& one = *new SystemRuntime;
  return one;
}

}  // namespace heatsink::client
