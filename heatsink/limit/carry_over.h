// SPDX-License-Identifier: Apache-2.0
// Moves what a limiter has given away to one with other numbers, so that a changed rate hands out
// no fresh burst.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// Between two limiters of the same kind (two token buckets, two leaky buckets, two windows of the
// same length) the new one has given away what the old one had, and not yet got back: a token
// bucket that was empty stays empty, whatever its new burst. Between different kinds the new one
// allows at most what the old one would have allowed now. One thread; the limiters may be in use,
// and calls at the same time count in one of them.
class CarryOver {
 public:
  // REQUIRES options that make_limiter() accepts.
  CarryOver(const LimiterOptions& from, const LimiterOptions& to, TimePoint now);

  // `old`: made from `from`; `fresh`: made from `to`, and not used yet.
  void move(Limiter& old, Limiter& fresh) const noexcept;

 private:
  std::uint64_t to_take(std::uint64_t left) const noexcept;

  const LimiterOptions from_, to_;
  const TimePoint now_;
  const std::uint64_t burst_from_, burst_to_;  // 0: a window
  const std::uint64_t full_from_, full_to_;    // what a new limiter allows at once
};

}  // namespace heatsink::limit
