// SPDX-License-Identifier: Apache-2.0
// Timers of one loop that run seldom while there is nothing to do, so that an idle proxy sleeps.
#pragma once

#include <functional>
#include <vector>

#include "heatsink/net/net.h"

namespace heatsink::copies {

// The loop's thread. Must not outlive the loop.
class PacedTimers {
 public:
  PacedTimers(net::EventLoop& loop, Nanos slow_period) : loop_(loop), slow_period_(slow_period) {}
  ~PacedTimers();
  PacedTimers(const PacedTimers&) = delete;
  PacedTimers& operator=(const PacedTimers&) = delete;

  // Calls it every `period`. REQUIRES that the timers are not slow.
  void every(Nanos period, std::function<void()> callback);

  // From now on all of them are called once per slow period, in the order they were added, by one
  // timer.
  void slow_down();
  // Calls all of them now, and each at its own period again. No effect unless they are slow.
  void wake();
  bool slow() const { return slow_timer_ != 0; }

 private:
  struct Timer {
    Nanos period;
    std::function<void()> callback;
    net::TimerId id = 0;
  };
  void arm(Timer& timer);
  void call_all();

  net::EventLoop& loop_;
  const Nanos slow_period_;
  std::vector<Timer> timers_;
  net::TimerId slow_timer_ = 0;
};

}  // namespace heatsink::copies
