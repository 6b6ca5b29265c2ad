// SPDX-License-Identifier: Apache-2.0
// Waits for the signals that end a program, so that it can report its results; and tells the end of
// the terminal from a SIGHUP that was meant for another process.
#pragma once

#include <signal.h>

#include "heatsink/base/clock.h"

namespace heatsink::app {

// `pkill -HUP heatsink`, as in a script of logrotate, reaches the proxy and every other heatsink of
// the machine. Only a proxy has something to read again; for all others the signal means that their
// terminal is gone, and that can be checked.

// From now on SIGHUP ends this process only if terminal_has_hung_up(). A verb may handle the signal
// itself, and a process that was started to ignore it (nohup) goes on ignoring it. main() calls it,
// before there are threads.
void end_at_hang_up_only();

// After a SIGHUP: whether this process had a terminal, and has lost it. Waits up to 100 ms, because
// the signal of a dying session comes before the loss. Async-signal-safe.
bool terminal_has_hung_up();

// Blocks SIGINT, SIGTERM and SIGHUP from construction on, for this thread and all threads it
// starts, for good: the owner must call wait_until(). A SIGHUP ends nothing while the terminal is
// there (terminal_has_hung_up()). One thread.
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
