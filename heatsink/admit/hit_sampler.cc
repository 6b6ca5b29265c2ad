// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/hit_sampler.h"

#include <cmath>
#include <limits>

namespace heatsink::admit {

void HitSampler::skip() noexcept {
  passed_ += gap_;
  // Within a turn the gap only grows: twice as far for each per_turn picks.
  if (++picks_of_gap_ >= per_turn_ && gap_ < 1U << kDoublingsMax) {
    gap_ *= 2;
    picks_of_gap_ = 0;
  }
  draw();
}

std::vector<SampledHit> HitSampler::take_sampled() {
  if (per_turn_ == 0) return {};
  // As many hits are expected in the next turn.
  const std::uint64_t wanted = (passed_ + per_turn_ - 1) / per_turn_;
  gap_ = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(wanted, 1, std::uint64_t{1} << kDoublingsMax));
  passed_ = 0;
  picks_of_gap_ = 0;
  draw();  // The old distance is of the old gap. Independent picks have no memory.
  return std::exchange(sampled_, {});
}

// Distances between independent picks are geometric: computes one from a uniform number.
void HitSampler::draw() noexcept {
  if (per_turn_ == 0) {
    left_ = std::numeric_limits<std::uint64_t>::max();
  } else if (gap_ == 1) {
    left_ = 1;
  } else {
    const double uniform = random_.unit() + 0x1p-54;  // never 0
    left_ = 1 + static_cast<std::uint64_t>(std::log(uniform) / std::log1p(-1.0 / gap_));
  }
}

}  // namespace heatsink::admit
