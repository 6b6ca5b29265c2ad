// SPDX-License-Identifier: Apache-2.0
// Defines heatsink's clock: CLOCK_BOOTTIME, which also runs while the machine is suspended.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace heatsink {

using Nanos = std::chrono::nanoseconds;
using Millis = std::chrono::milliseconds;

// CLOCK_MONOTONIC stops while a virtual machine is suspended, so a bound measured with it could be
// exceeded (docs/decisions). BOOTTIME does not stop, and changes of the wall clock do not affect
// it.
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

// Functions that depend on time take a TimePoint as an argument, so that tests can choose it.
using TimePoint = BootClock::time_point;

}  // namespace heatsink
