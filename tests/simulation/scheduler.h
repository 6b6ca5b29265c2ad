// SPDX-License-Identifier: Apache-2.0
// Virtual time: runs events in the order of their times, and draws all random numbers of a run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"

namespace heatsink::simulation {

// One thread. The same seed and the same calls give the same run. Events of one moment run in the
// order in which they were added.
class Scheduler {
 public:
  using Callback = std::function<void()>;

  explicit Scheduler(std::uint64_t seed) : random_(seed * 2 + 1) {}
  Scheduler(const Scheduler&) = delete;

  TimePoint now() const { return now_; }
  void call_at(TimePoint due, Callback callback) {
    events_.push({std::max(due, now_), ++last_number_, std::move(callback)});
  }
  void call_after(Nanos delay, Callback callback) { call_at(now_ + delay, std::move(callback)); }

  // Runs all events up to `end`, which then is the time.
  void run_until(TimePoint end) {
    while (!events_.empty() && events_.top().due <= end) {
      // top() is const, but the event is removed at once.
      Event event = std::move(const_cast<Event&>(events_.top()));
      events_.pop();
      now_ = event.due;
      ++ran_;
      event.callback();
    }
    now_ = end;
  }
  std::uint64_t events_ran() const { return ran_; }

  std::uint64_t random() { return random_.next(); }
  double unit() { return random_.unit(); }  // even in [0, 1)
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random() % bound; }
  bool chance(double probability) { return unit() < probability; }
  Nanos between(Nanos low, Nanos high) {
    return low + Nanos(static_cast<Nanos::rep>(
                     below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }

 private:
  struct Event {
    TimePoint due;
    std::uint64_t number;
    Callback callback;
    bool operator<(const Event& other) const {  // of a heap: the least is the latest
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  std::priority_queue<Event> events_;
  TimePoint now_{std::chrono::hours(1)};  // some time after the machines have started
  std::uint64_t last_number_ = 0;
  std::uint64_t ran_ = 0;
  Random random_;
};

}  // namespace heatsink::simulation
