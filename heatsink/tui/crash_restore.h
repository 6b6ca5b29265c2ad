// SPDX-License-Identifier: Apache-2.0
// Restores the terminal when the process crashes while a screen is shown.
#pragma once

#include <string>

namespace heatsink::tui {

// While one exists, SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT first write `farewell` (which
// leaves the alternate screen and shows the cursor) to `fd`, and restore the line discipline that
// `fd` had at construction; then the process dies as usual. At most one at a time; make it before
// changing the terminal.
class CrashRestore {
 public:
  CrashRestore(int fd, const std::string& farewell);
  ~CrashRestore();
  CrashRestore(const CrashRestore&) = delete;
  CrashRestore& operator=(const CrashRestore&) = delete;
};

}  // namespace heatsink::tui
