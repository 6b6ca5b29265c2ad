// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/carry_over.h"

#include <algorithm>

namespace heatsink::limit {
namespace {

bool is_window(Algorithm algorithm) {
  return algorithm == Algorithm::kFixedWindow || algorithm == Algorithm::kSlidingWindow;
}

std::uint64_t resolved_burst(const LimiterOptions& options) {
  return is_window(options.algorithm) ? 0 : burst_of(options);
}

// With the patience of a token bucket, this is more than its burst.
std::uint64_t full(const LimiterOptions& options, TimePoint now) {
  return make_limiter(options).value()->try_acquire(0, now).remaining;
}

}  // namespace

CarryOver::CarryOver(const LimiterOptions& from, const LimiterOptions& to, TimePoint now)
    : from_(from),
      to_(to),
      now_(now),
      burst_from_(resolved_burst(from)),
      burst_to_(resolved_burst(to)),
      full_from_(full(from, now)),
      full_to_(full(to, now)) {}

// `left`: what the old limiter would still allow.
std::uint64_t CarryOver::to_take(std::uint64_t left) const noexcept {
  const std::uint64_t used = full_from_ - std::min(left, full_from_);
  if (from_.algorithm != to_.algorithm) {
    // A leaky bucket's level is a queue: nothing waits in the new one, and it begins with one turn.
    if (to_.algorithm == Algorithm::kLeakyBucket) return std::min<std::uint64_t>(used, 1);
    return full_to_ - std::min(left, full_to_);
  }
  if (to_.algorithm == Algorithm::kTokenBucket) {
    const std::uint64_t owed = used + burst_to_;
    return std::min(owed - std::min(owed, burst_from_), full_to_);
  }
  if (is_window(to_.algorithm) && from_.rate.per != to_.rate.per)
    return full_to_ - std::min(left, full_to_);
  return std::min(used, full_to_);
}

void CarryOver::move(Limiter& old, Limiter& fresh) const noexcept {
  std::uint64_t rest = to_take(old.try_acquire(0, now_).remaining);
  const std::uint64_t step = burst_to_ == 0 ? full_to_ : burst_to_;
  while (rest > 0) {
    const std::uint64_t part = std::min(rest, step);
    if (!fresh.try_acquire(part, now_).allowed) return;
    rest -= part;
  }
}

}  // namespace heatsink::limit
