// SPDX-License-Identifier: Apache-2.0
// Holds the timers of one loop in an indexed heap, so that a cancelled timer is removed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::net {

// The low half is an index in the queue; the high half counts the uses of that index. An id repeats
// after 2^32 - 1 timers with the same index. 0 is never a timer.
using TimerId = std::uint64_t;

// Not thread-safe. Time is an argument. Timers of the same moment run in the order of add().
// Rejected: lazy deletion (mark a timer, and drop it when it comes up). A proxy sets a time limit
// per request and cancels nearly all of them, so dead timers would outnumber live ones.
class TimerQueue {
 public:
  // Runs `callback` once when run_due() gets a time >= `due`; with `period` > 0 again each period.
  // O(log n). A timer added by a callback runs in the next run_due() at the earliest.
  TimerId add(TimePoint due, Nanos period, std::function<void()> callback);

  // O(log n). Destroys the callback here, unless it is running now: then when it returns. No effect
  // on 0 and on a timer that has run.
  void cancel(TimerId timer);

  // Nothing when there is no timer.
  std::optional<TimePoint> next_due() const;

  // Runs the timers due at `now`. Callbacks may add and cancel any timer, including their own. A
  // late periodic timer runs once, and next one period after `now`.
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
  void release(std::uint32_t place);  // removes it from the heap; its id is invalid
  void run_first(TimePoint now);

  bool before(std::uint32_t place, std::uint32_t other) const;
  void put(std::size_t index, std::uint32_t place);
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);

  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_places_;
  std::vector<std::uint32_t> heap_;  // indexes, the earliest first
  std::uint64_t next_sequence_ = 1;
  TimePoint last_run_{};
};

}  // namespace heatsink::net
