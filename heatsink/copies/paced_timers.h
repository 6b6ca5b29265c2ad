// SPDX-License-Identifier: Apache-2.0
// Timers of one loop that slow down while there is nothing to do, so that an idle proxy sleeps.
#pragma once

#include <cstddef>
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

  // Calls `callback` every `period`. REQUIRES that the timers are not slow. Returns its number.
  std::size_t every(Nanos period, std::function<void()> callback);
  // Calls that callback every `period` from now on, if that is another period. Slow timers take it
  // when they wake. REQUIRES that it is not called by a callback.
  void change(std::size_t timer, Nanos period);

  // From now on one timer calls all callbacks once per slow period, in the order of every().
  void slow_down();
  // Calls all callbacks now, and each in its own period from now on. No effect unless slow.
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
