// SPDX-License-Identifier: Apache-2.0
// Paces a worker's periodic work: once per tick while its clients are busy, slowly while none is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/copies/paced_timers.h"
#include "heatsink/net/net.h"

namespace heatsink::proxy {

// One per worker; its thread. Calls: `begin (note_work | end_turn | rest | set_tick)*`.
class WorkPace {
 public:
  // Between two ticks of a worker whose clients are idle.
  static constexpr Nanos kIdlePeriod = std::chrono::seconds(2);
  // A worker stays awake for this long after its clients' last request.
  static constexpr Nanos kAwakeFor = std::chrono::seconds(3);

  // All outlive it. `awake`: how many workers of the proxy are awake. `woke`: called as soon as a
  // client of a resting worker does something.
  WorkPace(net::EventLoop& loop, std::atomic<std::uint32_t>& awake, std::function<void()> woke)
      : loop_(loop), awake_(awake), woke_(std::move(woke)), timers_(loop, kIdlePeriod) {}
  WorkPace(const WorkPace&) = delete;

  // The worker is awake, and does its periodic work each `tick`.
  void begin(Nanos tick, std::function<void()> work);
  void set_tick(Nanos tick) { timers_.change(tick_timer_, tick); }

  // A client does something. A resting worker wakes at the end of this turn. Costs two loads and a
  // store.
  void note_work() {
    worked_at_ = loop_.now();
    if (timers_.slow() && !wake_due_) wake();
  }
  // No client has done anything for kAwakeFor.
  bool is_idle() const { return loop_.now() - worked_at_ >= kAwakeFor; }
  void rest();  // REQUIRES that no other work is left; no effect on a resting worker
  // The periodic work may close clients, so what has woken the worker waits for the end of the
  // turn.
  void end_turn() {
    if (std::exchange(wake_due_, false)) timers_.wake();
  }

 private:
  void wake();

  net::EventLoop& loop_;
  std::atomic<std::uint32_t>& awake_;
  const std::function<void()> woke_;
  copies::PacedTimers timers_;
  std::size_t tick_timer_ = 0;
  TimePoint worked_at_{};  // when a client last did something
  bool wake_due_ = false;
};

}  // namespace heatsink::proxy
