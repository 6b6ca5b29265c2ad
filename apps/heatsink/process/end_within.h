// SPDX-License-Identifier: Apache-2.0
// Limits how long a program takes to end, whatever its threads wait for.
#pragma once

#include "heatsink/base/units.h"

namespace heatsink::app {

// From construction on the process has `limit` (at least 1 ms) to destroy this object. After that
// it prints a message on standard error and exits with kFailed, without destructors. It is for
// operations that cannot be interrupted: the look-up of a name takes as long as its servers are
// silent. Uses SIGALRM and the real-time interval timer: at most one per process.
class EndWithin {
 public:
  explicit EndWithin(Millis limit);
  ~EndWithin();
  EndWithin(const EndWithin&) = delete;
  EndWithin& operator=(const EndWithin&) = delete;
};

}  // namespace heatsink::app
