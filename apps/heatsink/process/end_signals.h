// SPDX-License-Identifier: Apache-2.0
// Waits for the signals that end a program, and lets it say what it has done.
#pragma once

#include <signal.h>

#include "heatsink/base/clock.h"

namespace heatsink::app {

// SIGINT, SIGTERM and SIGHUP are blocked from the construction on, for this thread and all that it
// starts, and stay so: whoever makes one must look. One thread.
class EndSignals {
 public:
  EndSignals();
  EndSignals(const EndSignals&) = delete;

  // True once a signal has come; waits for one until `until` at most.
  bool wait_until(TimePoint until);
  bool came() { return wait_until(TimePoint{}); }

 private:
  sigset_t set_{};
  bool came_ = false;
};

}  // namespace heatsink::app
