// SPDX-License-Identifier: Apache-2.0
// A clock for hits: an eighth of the price of the exact one, and early at most, never late.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::client {

// The kernel's own tick (CLOCK_MONOTONIC_COARSE: 7 ns where CLOCK_BOOTTIME takes 60), plus how long
// the machine has slept, which the keeper looks up at each of its ticks. It runs ahead by one
// resolution of the coarse clock, so a copy is never served past its end; but in the first tick
// after the machine slept, the nap is not known yet. Reading: any thread. A process that was
// stopped is no problem: the tick is the kernel's.
class HitClock {
 public:
  HitClock() noexcept {
    timespec resolution{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    ahead_ = nanos(resolution);
    sync();
  }

  TimePoint now() const noexcept {
    return TimePoint(Nanos(read(CLOCK_MONOTONIC_COARSE) + offset_.load(std::memory_order_relaxed)));
  }

  // Keeper's thread.
  void sync() noexcept {
    offset_.store(read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) + ahead_, std::memory_order_relaxed);
  }

 private:
  static std::int64_t nanos(const timespec& t) {
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  }
  static std::int64_t read(clockid_t clock) noexcept {
    timespec t{};
    clock_gettime(clock, &t);
    return nanos(t);
  }

  std::int64_t ahead_ = 0;
  std::atomic<std::int64_t> offset_{0};
};

}  // namespace heatsink::client
