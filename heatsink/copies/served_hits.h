// SPDX-License-Identifier: Apache-2.0
// Picks some of the hits that a worker serves: to audit them, and to estimate what copies save.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/copies/audit_sampler.h"

namespace heatsink::copies {

// One thread. Each hit costs one due(): a count-down and a branch, for both purposes together.
class ServedHits {
 public:
  // For the estimate, all workers together pick about so many hits per second (all, if they are
  // fewer). Then a key with 1 % of the hits has a rate to 7 % in 95 of 100 cases, one with 0.1 % to
  // 22 %; a pick takes the worker and the keeper about 0.2 us.
  static constexpr std::size_t kPicksPerSecond = 4096;

  // `picks_per_turn`: between two calls of take_sampled(). 0: no estimate.
  ServedHits(const AuditSampler& audits, std::size_t picks_per_turn, std::uint64_t seed)
      : audits_(audits), picks_(picks_per_turn, seed) {
    count_down();
  }

  // Other samples from now on. The picks of this turn are lost.
  void reconfigure(const AuditSampler& audits, std::size_t picks_per_turn, std::uint64_t seed) {
    audits_ = audits;
    picks_ = admit::HitSampler(picks_per_turn, seed);
    count_down();
  }

  // Call it once per hit. True: call look().
  bool due() noexcept { return --left_ == 0; }
  // True: audit this hit.
  bool look(KeyHash key, TimePoint now) {
    const std::uint64_t hits = std::exchange(step_, 0);
    if (picks_.pass(hits)) picks_.take(key);
    const bool is_audited = audits_.pass(hits) && audits_.take(now);
    count_down();
    return is_audited;
  }
  // The picks since the last call. Begins a turn.
  std::vector<admit::SampledHit> take_sampled() {
    const std::uint64_t hits = step_ - left_;  // so many that none of them is due
    static_cast<void>(picks_.pass(hits));
    static_cast<void>(audits_.pass(hits));
    std::vector<admit::SampledHit> sampled = picks_.take_sampled();
    count_down();
    return sampled;
  }

 private:
  void count_down() noexcept { step_ = left_ = std::min(audits_.left(), picks_.left()); }

  AuditSampler audits_;
  admit::HitSampler picks_;
  std::uint64_t step_ = 0;  // hits between the last look and the next one
  std::uint64_t left_ = 0;  // of them
};

}  // namespace heatsink::copies
