// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/work_pace.h"

namespace heatsink::proxy {

void WorkPace::begin(Nanos tick, std::function<void()> work) {
  tick_timer_ = timers_.every(tick, std::move(work));
  awake_.fetch_add(1);
}

void WorkPace::rest() {
  if (timers_.slow()) return;
  timers_.slow_down();
  awake_.fetch_sub(1);
}

void WorkPace::wake() {
  wake_due_ = true;
  awake_.fetch_add(1);
  woke_();
}

}  // namespace heatsink::proxy
