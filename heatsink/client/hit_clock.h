// SPDX-License-Identifier: Apache-2.0
// A clock for hits: less than half the price of the exact one, a little early, never late.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "heatsink/base/clock.h"
#include "heatsink/client/runtime.h"

namespace heatsink::client {

// The processor's time stamp counter, where the kernel itself keeps the time by it (10 ns; the
// exact clock takes 28). Each sync() sets it by the exact clock; in between it runs 0.1 % fast,
// more than the kernel may slew its clock, so that a copy is never served past its end. It is the
// exact clock before the second sync(), and from the first sync() on that finds it late: after the
// machine slept, or where the counter cannot be trusted.
//
// The kernel's coarse clock will not do: it is late whenever a tick is (7 ms were seen on a virtual
// machine, whose ticks are 4 ms apart).
class HitClock {
 public:
  static constexpr char kClockSourceFile[] =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";

  // Exact for ever if the runtime has another time than the system's.
  explicit HitClock(const Runtime& runtime = system_runtime(),
                    const std::string& clock_source_file = kClockSourceFile);

  // Any thread.
  TimePoint now() const noexcept {
    const std::int64_t offset = offset_.load(std::memory_order_acquire);
    if (offset == kExact) [[unlikely]]
      return runtime_.now();
    return TimePoint(Nanos(offset + scaled(ticks() - first_.ticks)));
  }

  // One thread, about every 100 ms (the keeper).
  void sync() noexcept;
  bool is_exact() const noexcept { return offset_.load(std::memory_order_relaxed) == kExact; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::int64_t kExact = INT64_MIN;

  struct Reading {
    std::uint64_t ticks = 0, took = 0;  // `took`: ticks from before `time` was read to after it
    TimePoint time{};
  };
  Reading read() const noexcept;
  static std::uint64_t ticks() noexcept {
#ifdef __x86_64__
    return __rdtsc();
#else
    return 0;
#endif
  }
  std::int64_t scaled(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(Wide{ticks} * nanos_per_tick_ >> 32);
  }

  const Runtime& runtime_;
  bool may_count_;
  Reading first_;                     // these two are set before offset_ is, and not after that
  std::uint64_t nanos_per_tick_ = 0;  // times 2^32
  std::atomic<std::int64_t> offset_{kExact};
};

}  // namespace heatsink::client
