// SPDX-License-Identifier: Apache-2.0
// Timers of one loop: an indexed heap, so that a cancelled timer is gone at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::net {

// The low half is a place in the queue, the high half counts how often that place was used: an id
// comes back after 2^32 - 1 timers of one place. 0 is never a timer.
using TimerId = std::uint64_t;

// Not thread-safe. Time is an argument. Timers of the same moment run in the order they were added.
// Lazy deletion (a mark, swept when the timer comes up) was not taken: a proxy arms a time limit
// per request and cancels nearly all of them, so the dead ones would outnumber the living.
class TimerQueue {
 public:
  // Runs `callback` once when run_due() is told a time >= `due`; with `period` > 0 again every
  // period. O(log n). A timer added by a callback runs in the next run_due() at the earliest.
  TimerId add(TimePoint due, Nanos period, std::function<void()> callback);

  // O(log n). The callback is destroyed here, unless it is the one that runs now: that one dies
  // when it returns. No effect on 0 and on a timer that has run.
  void cancel(TimerId timer);

  // Nothing when there is no timer.
  std::optional<TimePoint> next_due() const;

  // Runs what is due at `now`. Callbacks may add and cancel any timer, also their own. A periodic
  // timer that is late runs once, and next one period after `now`.
  void run_due(TimePoint now);

  std::size_t size() const { return heap_.size(); }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  struct Timer {
    TimePoint due;
    std::uint64_t sequence = 0;  // orders timers of the same moment
    Nanos period{0};
    std::function<void()> callback;
    std::uint32_t generation = 1;
    std::size_t heap_index = kNowhere;
  };

  Timer* find(TimerId timer);
  std::uint32_t take_place();
  void release(std::uint32_t place);  // out of the heap; its id is dead
  void run_first(TimePoint now);

  bool before(std::uint32_t place, std::uint32_t other) const;
  void put(std::size_t index, std::uint32_t place);
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);

  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_places_;
  std::vector<std::uint32_t> heap_;  // places, the earliest first
  std::uint64_t next_sequence_ = 1;
  TimePoint last_run_{};
};

}  // namespace heatsink::net
