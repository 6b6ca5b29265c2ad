// SPDX-License-Identifier: Apache-2.0
// The one clock of heatsink: CLOCK_BOOTTIME, which goes on while the machine sleeps.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace heatsink {

using Nanos = std::chrono::nanoseconds;
using Millis = std::chrono::milliseconds;

// CLOCK_MONOTONIC stands still while a virtual machine is suspended, so a lease measured with it
// would outlive its bound (docs/decisions); BOOTTIME does not, and the wall clock has no say.
struct BootClock {
  using duration = Nanos;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  // About 20 ns (vDSO). Thread-safe.
  static time_point now() noexcept {
    timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + Nanos(t.tv_nsec));
  }
};

// Logic takes a TimePoint as an argument and never asks a clock itself.
using TimePoint = BootClock::time_point;

}  // namespace heatsink
