// SPDX-License-Identifier: Apache-2.0
// Two buckets that a rate fills: the token bucket lets a burst pass, the leaky bucket makes calls
// wait.
#pragma once

#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"
#include "heatsink/limit/pace.h"

namespace heatsink::limit {

// Fills a bucket of `burst` tokens at a rate: a burst passes at once, then the rate limits. In any
// time T at most burst + T x rate pass, plus 2 to 4 ns' worth. Initially full. With patience it
// gives away future tokens, each to one caller, which waits for it. The leaky bucket as a meter
// (policing: overflow is refused, nothing waits) is the same algorithm. As in GCRA (ITU-T I.371)
// the state is one number instead of a count and a time: the tokens given away since time began, or
// those produced by then if that is more.
class TokenBucket final : public Limiter {
 public:
  // REQUIRES options that make_limiter() accepts.
  TokenBucket(const Rate& rate, std::uint64_t burst, Nanos patience = Nanos(0))
      : pace_(rate), burst_(burst), ahead_(pace_.at(TimePoint(patience))) {}

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override { level_.reset(); }

 private:
  const Pace pace_;
  const std::uint64_t burst_;
  const std::uint64_t ahead_;  // units that come within the patience
  Level level_;
};

// Serves a queue at a rate: no bursts; allowed calls wait for their turn. Shaping, where the token
// bucket polices. Callers that wait for Decision::wait proceed evenly, one each 1 / rate; in any
// time T at most T x rate + 1 begin (a call for n proceeds with its n in a row). The queue holds
// `burst` calls, including the one whose turn it is, so no caller waits longer than burst / rate. A
// call that finds the queue full is refused. The caller does the waiting; a caller that does not
// wait leaves its turn unused.
class LeakyBucket final : public Limiter {
 public:
  // REQUIRES options that make_limiter() accepts.
  LeakyBucket(const Rate& rate, std::uint64_t burst) : pace_(rate), burst_(burst) {}

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override { level_.reset(); }

 private:
  const Pace pace_;
  const std::uint64_t burst_;
  Level level_;
};

}  // namespace heatsink::limit
