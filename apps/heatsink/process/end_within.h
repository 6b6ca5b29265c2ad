// SPDX-License-Identifier: Apache-2.0
// A bound on how long a program takes to end, whatever its threads are waiting for.
#pragma once

#include "heatsink/base/units.h"

namespace heatsink::app {

// From its construction on the process has `limit` (at least 1 ms) to destroy this; then it says so
// on the standard error output and exits with kFailed, without destructors. For what cannot be
// interrupted: a look-up of a name may take as long as its servers are silent. Takes SIGALRM and
// the real-time interval timer: one at a time in a process.
class EndWithin {
 public:
  explicit EndWithin(Millis limit);
  ~EndWithin();
  EndWithin(const EndWithin&) = delete;
  EndWithin& operator=(const EndWithin&) = delete;
};

}  // namespace heatsink::app
