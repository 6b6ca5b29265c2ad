// SPDX-License-Identifier: Apache-2.0
// Restores the terminal when the process dies while a screen is shown.
#pragma once

#include <string>

namespace heatsink::tui {

// While one lives, SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT first write `farewell` (what leaves
// the alternate screen and shows the cursor) to `fd` and put back the line discipline that `fd` had
// when this was made; then the process dies as it would have. At most one at a time; make it before
// the terminal is changed.
class CrashRestore {
 public:
  CrashRestore(int fd, const std::string& farewell);
  ~CrashRestore();
  CrashRestore(const CrashRestore&) = delete;
  CrashRestore& operator=(const CrashRestore&) = delete;
};

}  // namespace heatsink::tui
