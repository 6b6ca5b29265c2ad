// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_signals.h"

#include <time.h>

#include <algorithm>

namespace heatsink::app {

EndSignals::EndSignals() {
  sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

bool EndSignals::wait_until(TimePoint until) {
  const Nanos left = std::max(until - BootClock::now(), Nanos(0));
  const timespec wait{left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
  came_ = came_ || sigtimedwait(&set_, nullptr, &wait) > 0;
  return came_;
}

}  // namespace heatsink::app
