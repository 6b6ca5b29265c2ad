// SPDX-License-Identifier: Apache-2.0
// Decides whether something may happen now: one interface for four limit algorithms.
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
  // Allowed, but only after this time: the caller waits. Only the leaky bucket and a token bucket
  // with patience set it; the others have 0.
  Nanos wait{0};
  // Refused: it would be allowed after this time if no other call came. kNever: n is more than the
  // limit can ever allow at once.
  Nanos retry_after{0};
  std::uint64_t remaining = 0;  // how many more would be allowed now
  // Not allowed, and not refused either: a server was asked. Ask again after retry_after. Only of
  // SharedLimit (shared_limits.h).
  bool undecided = false;
};
inline constexpr Nanos kNever = Nanos::max();

// A limit inside this process. Lock-free and allocation-free; a call takes about 10 ns, with the
// sliding window 15 ns (bench_limit). Any number of threads may call. Their `now` may differ by the
// time between reading the clock and calling. While the clock stands still, nothing new is allowed.
// A clock that is set back by at most kStandstill counts as standing still. If it is set back
// further, the limit goes on from there with nothing free; the sliding window starts anew.
class Limiter {
 public:
  static constexpr Nanos kStandstill = std::chrono::seconds(1);

  virtual ~Limiter() = default;
  Limiter() = default;
  Limiter(const Limiter&) = delete;

  // Takes all n or none. n = 0 takes nothing and is allowed; the decision has what remains.
  virtual Decision try_acquire(std::uint64_t n, TimePoint now) noexcept = 0;

  // Gives back n that were allowed at `taken_at` and not used, as if they had never been taken.
  // Call it soon: what has become free meanwhile is not taken back, so a bucket that was full again
  // in between holds up to n more than its burst.
  virtual void give_back(std::uint64_t n, TimePoint taken_at) noexcept = 0;
  // Resets the limiter to its state after construction. A call at the same time counts before or
  // after the reset.
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
  // for windows: rate.count in each rate.per
  Rate rate{.count = 1000, .per = std::chrono::seconds(1)};
  // Token bucket: how many are allowed at once. Leaky bucket: the length of its queue. 0: what the
  // rate gives in a second, at least 1. Windows have no burst but their count.
  std::uint64_t burst = 0;
  std::uint32_t slots = 10;  // for the sliding window
  // Token bucket: a call that finds it empty and would be allowed within this time is allowed now
  // and waits for its turn, first come, first served. 0: such a call is refused.
  Nanos patience{0};
  friend bool operator==(const LimiterOptions&, const LimiterOptions&) = default;
};

// The burst of a bucket with these options: never 0.
std::uint64_t burst_of(const LimiterOptions& options);

// Fails if an option is out of bounds; the error has the bounds.
Result<std::unique_ptr<Limiter>> make_limiter(const LimiterOptions& options);

}  // namespace heatsink::limit
