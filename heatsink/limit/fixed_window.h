// SPDX-License-Identifier: Apache-2.0
// Limits the count in each fixed window: the simplest algorithm, with bursts at the borders.
#pragma once

#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// Windows begin at multiples of their length on the clock, at the same time for all limiters. In a
// time as long as a window twice the count may pass: all of one window at its end, and all of the
// next one at its beginning. If that is too much, use the sliding window. The state is one number:
// the count given away since time began; a window that is over has given away its whole count.
class FixedWindow final : public Limiter {
 public:
  // Allows rate.count in each rate.per. REQUIRES check_rate(rate).
  explicit FixedWindow(const Rate& rate)
      : count_(rate.count), length_ns_(static_cast<std::uint64_t>(rate.per.count())) {}

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override { level_.reset(); }

 private:
  Nanos time_to(std::uint64_t windows_ahead, std::uint64_t now_ns) const noexcept;

  const std::uint64_t count_;
  const std::uint64_t length_ns_;
  Level level_;
};

}  // namespace heatsink::limit
