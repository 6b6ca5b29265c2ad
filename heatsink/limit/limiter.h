// SPDX-License-Identifier: Apache-2.0
// May this happen now? One question for four algorithms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/limit/rate.h"

namespace heatsink::limit {

struct Decision {
  bool allowed = false;
  // Allowed, but not yet: its turn comes after so long (the leaky bucket, and a token bucket with
  // patience; the others: 0).
  Nanos wait{0};
  // Refused: after so long it would be allowed if nobody else came. kNever: more than there can
  // ever be at once.
  Nanos retry_after{0};
  std::uint64_t remaining = 0;  // so many more would be allowed at this moment
};
inline constexpr Nanos kNever = Nanos::max();

// Lock-free and allocation-free; any number of threads, which may disagree about `now` by the time
// between reading a clock and asking. A clock that stands still gives nothing new. One that is set
// back counts as standing still for kStandstill; further back, it goes on from there with
// nothing free (the sliding window: anew). About 10 ns, the sliding window 15 (bench_limit).
class Limiter {
 public:
  static constexpr Nanos kStandstill = std::chrono::seconds(1);

  virtual ~Limiter() = default;
  Limiter() = default;
  Limiter(const Limiter&) = delete;

  // All n or none. n = 0 takes nothing and is allowed; it tells what remains.
  virtual Decision try_acquire(std::uint64_t n, TimePoint now) noexcept = 0;

  // n of what was allowed at `taken_at`, and not used: as if they had never been asked for. Soon
  // after: what has become free meanwhile is not taken back, so that a bucket which was full again
  // in between holds up to n more than its burst.
  virtual void give_back(std::uint64_t n, TimePoint taken_at) noexcept = 0;
  // Becomes as it was when it was made. Who asks at the same time is asked for by one or the other.
  virtual void forget() noexcept = 0;
};

enum class Algorithm : std::uint8_t { kFixedWindow, kSlidingWindow, kLeakyBucket, kTokenBucket };
std::string_view to_string(Algorithm algorithm);  // "fixed-window", "token-bucket" ...
std::optional<Algorithm> algorithm_of(std::string_view text);

inline constexpr std::uint64_t kSlotsMax = 64;
inline constexpr Nanos kPatienceMax = std::chrono::hours(1);
inline constexpr std::uint64_t kSlidingCountMax = (std::uint64_t{1} << 31U) - 1;

struct LimiterOptions {
  Algorithm algorithm = Algorithm::kTokenBucket;
  Rate rate{.count = 1000, .per = std::chrono::seconds(1)};  // the windows: rate.count in rate.per
  // The token bucket: so many at once; the leaky one: so many in its queue. 0: what the rate gives
  // in a second, at least 1. Windows have none but their count.
  std::uint64_t burst = 0;
  std::uint32_t slots = 10;  // of the sliding window
  // Of the token bucket: what finds it empty and would be allowed within so long is allowed now,
  // and waits for its turn, first come, first served. 0: it is refused.
  Nanos patience{0};
};

// Error: an option that cannot be, with its bounds.
Result<std::unique_ptr<Limiter>> make_limiter(const LimiterOptions& options);

}  // namespace heatsink::limit
