// SPDX-License-Identifier: Apache-2.0
// For tests in one thread: time that the test sets.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "heatsink/client/runtime.h"
#include "heatsink/client/start_for_test.h"
#include "heatsink/net/net.h"

namespace heatsink::client {

// Waiting takes no time: it moves `time` to the end of the wait. No other thread could end a
// wait without a limit, so that is an error. It has no threads and no sockets.
class PlayedRuntime final : public Runtime {
 public:
  TimePoint time = kStart;

  TimePoint now() const noexcept override { return time; }
  bool has_system_time() const noexcept override { return false; }
  std::uint64_t draw_seed() override { return 1; }
  std::unique_ptr<Condition> make_condition() override { return std::make_unique<Wait>(time); }
  std::unique_ptr<Thread> spawn(const std::string&, std::function<void()>) override {
    throw std::logic_error("a played runtime has no threads");
  }
  std::unique_ptr<net::Poller> make_poller() override { return nullptr; }

 private:
  class Wait final : public Condition {
   public:
    explicit Wait(TimePoint& time) : time_(time) {}
    void wait_until(std::unique_lock<std::mutex>&, TimePoint due) override {
      if (due == TimePoint::max()) throw std::logic_error("nothing would end this wait");
      time_ = due;
    }
    void notify_one() noexcept override {}
    void notify_all() noexcept override {}

   private:
    TimePoint& time_;
  };
};

}  // namespace heatsink::client
