// SPDX-License-Identifier: Apache-2.0
// Remembers the server's refusals, so that it is not asked again while its answer cannot change.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::distributed {

// Lock-free, any number of threads. One integer: the end of the refusal (microseconds of
// BootClock), and the number of tokens that was refused. Fewer tokens may still pass, so the server
// is asked for them.
class Denial {
 public:
  // Larger numbers are not remembered.
  static constexpr std::uint64_t kCountMax = (1U << 12U) - 1;

  // The server refused n, and would until `until`. Of two refusals the one that ends later is kept.
  void remember(std::uint64_t n, TimePoint until) noexcept {
    if (n > kCountMax) return;
    const std::uint64_t told = (microseconds(until) << kCountBits) + n;
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (told > seen && !word_.compare_exchange_weak(seen, told, std::memory_order_relaxed)) {
    }
  }
  void forget() noexcept { word_.store(0, std::memory_order_relaxed); }

  // For how long n will be refused; 0: not, or not known.
  Nanos refuses(std::uint64_t n, TimePoint now) const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    const std::uint64_t until = word >> kCountBits;
    const std::uint64_t at = microseconds(now);
    if (until <= at || n < (word & kCountMax)) return Nanos(0);
    return std::chrono::microseconds(until - at);
  }

 private:
  static constexpr unsigned kCountBits = 12;  // leaves 140 years of microseconds

  static std::uint64_t microseconds(TimePoint time) noexcept {
    const auto since_boot =
        std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
    constexpr std::int64_t kLast = (std::int64_t{1} << 52U) - 1;
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(since_boot.count(), 0, kLast));
  }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace heatsink::distributed
