// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_signals.h"

#include <time.h>

#include <algorithm>

#include "apps/heatsink/process/hang_up.h"

namespace heatsink::app {

EndSignals::EndSignals() {
  sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

bool EndSignals::wait_until(TimePoint until) {
  while (!came_) {
    const Nanos left = std::max(until - BootClock::now(), Nanos(0));
    const timespec wait{left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
    const int number = sigtimedwait(&set_, nullptr, &wait);
    if (number < 0) return false;
    came_ = number != SIGHUP || terminal_has_hung_up();
  }
  return true;
}

}  // namespace heatsink::app
