// SPDX-License-Identifier: Apache-2.0
// Tells the end of the terminal from a SIGHUP that was meant for another process.
//
// `pkill -HUP heatsink`, as in a script of logrotate, reaches the proxy and every other heatsink of
// the machine. Only a proxy has something to read again; for all others the signal means that their
// terminal is gone, and that can be checked.
#pragma once

namespace heatsink::app {

// From now on SIGHUP ends this process only if terminal_has_hung_up(). A verb may handle the signal
// itself, and a process that was started to ignore it (nohup) goes on ignoring it. main() calls it,
// before there are threads.
void end_at_hang_up_only();

// After a SIGHUP: whether this process had a terminal, and has lost it. Waits up to 100 ms, because
// the signal of a dying session comes before the loss. Async-signal-safe.
bool terminal_has_hung_up();

}  // namespace heatsink::app
