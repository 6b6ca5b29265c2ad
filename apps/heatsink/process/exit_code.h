// SPDX-License-Identifier: Apache-2.0
// What a verb of the program returns to the shell.
#pragma once

namespace heatsink::app {

// Exit codes of every verb: kDone; kFailed (it ran and could not do it); kMisused (command line or
// configuration).
enum ExitCode : int { kDone = 0, kFailed = 1, kMisused = 2 };

}  // namespace heatsink::app
