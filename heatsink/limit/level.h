// SPDX-License-Identifier: Apache-2.0
// Holds the state of a bucket or a window in one number: how much has been given away since time
// began.
#pragma once

#include <atomic>
#include <cstdint>

namespace heatsink::limit {

// The valid levels at a moment. Anything below `floor` is free and gone: there a bucket is full,
// and a window is over.
struct Span {
  std::uint64_t floor;
  std::uint64_t top;  // floor + capacity
  // A higher level means that the clock was set back by more than threads can disagree about the
  // time. It is lowered to `top`, so that nothing is free now and the limit continues at its rate.
  // Between top and this, time counts as standing still.
  std::uint64_t absurd;
};

// Lock-free, any number of threads; it does not order other memory accesses. One compare-and-swap.
// Raising by 0 is always allowed.
class Level {
 public:
  struct Raised {
    bool allowed;
    std::uint64_t from;  // the level before; the request takes what lies above it

    std::uint64_t left(const Span& span, std::uint64_t by) const {
      const std::uint64_t now = from + (allowed ? by : 0);
      return now < span.top ? span.top - now : 0;
    }
  };
  Raised raise(std::uint64_t by, const Span& span) noexcept;
  // Returns what was raised and not used, if the level is still at most `top_max`.
  void lower(std::uint64_t by, std::uint64_t top_max) noexcept;
  void reset() noexcept { level_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> level_{0};
};

}  // namespace heatsink::limit
