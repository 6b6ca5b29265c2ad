// SPDX-License-Identifier: Apache-2.0
// The one number that is the state of a bucket, or of a window: how much has been given away since
// time began.
#pragma once

#include <atomic>
#include <cstdint>

namespace heatsink::limit {

// Where the level may be at a moment. What lies below `floor` is free and gone: a bucket is full
// then, a window over.
struct Span {
  std::uint64_t floor;
  std::uint64_t top;  // floor + capacity
  // A level above says that the clock has been set back, by more than threads can disagree about
  // what time it is. It is taken down to `top`, so that nothing is free now and all goes on from
  // here at its rate. Between top and this, time counts as standing still.
  std::uint64_t absurd;
};

// Lock-free, any number of threads; it orders nothing else. One compare-and-swap. Raising by 0 is
// always allowed.
class Level {
 public:
  struct Raised {
    bool allowed;
    std::uint64_t from;  // the level before; what is asked for lies above it

    std::uint64_t left(const Span& span, std::uint64_t by) const {
      const std::uint64_t now = from + (allowed ? by : 0);
      return now < span.top ? span.top - now : 0;
    }
  };
  Raised raise(std::uint64_t by, const Span& span) noexcept;
  // What was raised and not used, if the level still stands at `top_max` or below.
  void lower(std::uint64_t by, std::uint64_t top_max) noexcept;
  void reset() noexcept { level_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> level_{0};
};

}  // namespace heatsink::limit
