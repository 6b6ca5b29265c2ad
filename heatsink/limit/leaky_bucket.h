// SPDX-License-Identifier: Apache-2.0
// A queue that is served at a rate: nothing passes in bursts, what is allowed waits for its turn.
#pragma once

#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"
#include "heatsink/limit/pace.h"

namespace heatsink::limit {

// Shaping, where the token bucket polices: whoever waits as long as Decision::wait says goes ahead
// evenly, one each 1 / rate; in any time T at most T x rate + 1 begin (one that asks for n: its n
// in a row). The queue holds `burst`, the one whose turn it is among them, so nobody waits longer
// than burst / rate; what finds it full is refused. The caller does the waiting; who does not wait
// leaves his place unused.
class LeakyBucket final : public Limiter {
 public:
  // REQUIRES what make_limiter() checks.
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
