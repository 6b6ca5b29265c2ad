// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/paced_timers.h"

#include <utility>

namespace heatsink::copies {

PacedTimers::~PacedTimers() {
  loop_.cancel(slow_timer_);
  for (const Timer& timer : timers_) loop_.cancel(timer.id);
}

std::size_t PacedTimers::every(Nanos period, std::function<void()> callback) {
  timers_.push_back({period, std::move(callback)});
  arm(timers_.back());
  return timers_.size() - 1;
}

void PacedTimers::change(std::size_t timer, Nanos period) {
  Timer& changed = timers_[timer];
  if (changed.period == period) return;
  changed.period = period;
  if (slow()) return;
  loop_.cancel(changed.id);
  arm(changed);
}

void PacedTimers::arm(Timer& timer) { timer.id = loop_.call_every(timer.period, timer.callback); }

void PacedTimers::slow_down() {
  if (slow()) return;
  for (Timer& timer : timers_) loop_.cancel(std::exchange(timer.id, 0));
  // One timer instead of many: the process wakes up once per slow period.
  slow_timer_ = loop_.call_every(slow_period_, [this] { call_all(); });
}

void PacedTimers::wake() {
  if (!slow()) return;
  loop_.cancel(std::exchange(slow_timer_, 0));
  for (Timer& timer : timers_) arm(timer);
  call_all();
}

void PacedTimers::call_all() {
  for (std::size_t i = 0; i < timers_.size(); ++i) timers_[i].callback();
}

}  // namespace heatsink::copies
