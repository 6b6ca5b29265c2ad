// SPDX-License-Identifier: Apache-2.0
// Defines the program's exit codes.
#pragma once

namespace heatsink::app {

// Exit codes of all verbs: kDone; kFailed (it ran and failed); kMisused (wrong command line or
// configuration).
enum ExitCode : int { kDone = 0, kFailed = 1, kMisused = 2 };

}  // namespace heatsink::app
