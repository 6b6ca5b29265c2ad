// SPDX-License-Identifier: Apache-2.0
// Serves a queue at a rate: no bursts; allowed calls wait for their turn.
#pragma once

#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"
#include "heatsink/limit/pace.h"

namespace heatsink::limit {

// Shaping, where the token bucket polices. Callers that wait for Decision::wait proceed evenly, one
// each 1 / rate; in any time T at most T x rate + 1 begin (a call for n proceeds with its n in a
// row). The queue holds `burst` calls, including the one whose turn it is, so no caller waits
// longer than burst / rate. A call that finds the queue full is refused. The caller does the
// waiting; a caller that does not wait leaves its turn unused.
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
