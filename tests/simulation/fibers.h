// SPDX-License-Identifier: Apache-2.0
// Threads of simulated processes: stacks that take turns on one thread, in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heatsink/client/runtime.h"
#include "tests/simulation/network.h"
#include "tests/simulation/scheduler.h"

namespace heatsink::simulation {

class Fibers;

// One simulated thread. It runs until it waits: no time passes, and no other runs, between two
// waits. Waiting may end early, so whoever waits looks again.
class Fiber {
 public:
  ~Fiber();
  Fiber(const Fiber&) = delete;

  void wake_at(TimePoint due);  // or before; not while it is stopped
  void wake_soon();             // after the delay with which a system schedules a thread
  void stop_for(Nanos time);    // as if the system did not schedule it
  bool is_over() const { return is_over_; }

 private:
  friend class Fibers;
  struct Context;
  Fiber(Fibers& fibers, std::function<void()> body);
  void run();  // on its own stack

  Fibers& fibers_;
  std::function<void()> body_;
  std::unique_ptr<Context> context_;
  TimePoint stopped_until_{};
  TimePoint next_turn_ = TimePoint::max();
  bool is_over_ = false;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
};

// The fibers of a world. A fiber waits in park(), and in what is built on it.
//
// Locks are std::mutex: REQUIRES that no fiber waits while it holds one that another fiber takes.
class Fibers {
 public:
  // A thread that is woken runs after `wake_min` to `wake_max`.
  Fibers(Scheduler& scheduler, Nanos wake_min, Nanos wake_max);
  ~Fibers();  // REQUIRES that all are over
  Fibers(const Fibers&) = delete;

  std::shared_ptr<Fiber> spawn(std::function<void()> body);
  std::size_t alive() const { return alive_.size(); }
  Scheduler& scheduler() { return scheduler_; }

  // Of the fiber that runs; REQUIRES that one does.
  Fiber& current() const;
  void park();  // until it is woken
  void pause_until(TimePoint due);
  void pause_for(Nanos time) { pause_until(scheduler_.now() + time); }

 private:
  friend class Fiber;
  void resume(Fiber& fiber);

  Scheduler& scheduler_;
  const Nanos wake_min_, wake_max_;
  Fiber* current_ = nullptr;
  std::vector<std::shared_ptr<Fiber>> alive_;
  struct Main;  // where the scheduler goes on
  const std::unique_ptr<Main> main_;
};

// What one simulated process gives to a client::Client.
class FiberRuntime final : public client::Runtime {
 public:
  FiberRuntime(Fibers& fibers, Network& network, std::string name)
      : fibers_(fibers), network_(network), name_(std::move(name)) {}

  TimePoint now() const noexcept override { return fibers_.scheduler().now(); }
  bool has_system_time() const noexcept override { return false; }
  std::uint64_t draw_seed() override { return fibers_.scheduler().random(); }
  std::unique_ptr<client::Condition> make_condition() override;
  std::unique_ptr<client::Thread> spawn(const std::string& name,
                                        std::function<void()> body) override;
  std::unique_ptr<net::Poller> make_poller() override;

  // Its threads that were spawned so far and are not over; with this name, or all.
  std::vector<std::shared_ptr<Fiber>> threads(const std::string& name = "");

 private:
  struct Named {
    std::string name;
    std::weak_ptr<Fiber> fiber;
  };

  Fibers& fibers_;
  Network& network_;
  const std::string name_;
  std::vector<Named> threads_;
};

}  // namespace heatsink::simulation
