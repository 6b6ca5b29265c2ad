// SPDX-License-Identifier: Apache-2.0
// A bucket of `burst` tokens that is filled at a rate: a burst passes at once, then the rate rules.
#pragma once

#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"
#include "heatsink/limit/pace.h"

namespace heatsink::limit {

// In any time T at most burst + T x rate pass, and 2 to 4 ns more of it. Full at the beginning.
// With patience, tokens are given away that are still to come, each to one caller, who waits for
// his. The leaky bucket as a meter (policing: what overflows is refused, nothing waits) is the same
// thing said the other way round. As GCRA (ITU-T I.371) the state is one number instead of a count
// and a time: the tokens given away since time began, or as many as had come by then, if that is
// more.
class TokenBucket final : public Limiter {
 public:
  // REQUIRES what make_limiter() checks.
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

}  // namespace heatsink::limit
