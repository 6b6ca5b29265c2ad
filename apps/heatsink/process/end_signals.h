// SPDX-License-Identifier: Apache-2.0
// Waits for the signals that end a program, so that it can report its results.
#pragma once

#include <signal.h>

#include "heatsink/base/clock.h"

namespace heatsink::app {

// Blocks SIGINT, SIGTERM and SIGHUP from construction on, for this thread and all threads it
// starts, for good: the owner must call wait_until(). A SIGHUP ends nothing while the terminal is
// there (hang_up.h). One thread.
class EndSignals {
 public:
  EndSignals();
  EndSignals(const EndSignals&) = delete;

  // Waits until a signal has come, at most until `until`; returns whether one has.
  bool wait_until(TimePoint until);
  bool came() { return wait_until(TimePoint{}); }

 private:
  sigset_t set_{};
  bool came_ = false;
};

}  // namespace heatsink::app
