// SPDX-License-Identifier: Apache-2.0
// Picks hits at random, to estimate the hits of each copy without a counter that all hits share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/random.h"

namespace heatsink::admit {

struct SampledHit {
  KeyHash key;
  std::uint32_t hits;  // that it stands for: the inverse of the probability of the pick
};

// Each hit is picked independently of all others and of its key, with a probability that depends
// on earlier hits only. So the sum of SampledHit::hits has the true number of hits as its mean,
// however the probability changes. One thread, or guarded by a lock. The cost of a hit: a
// count-down and a branch. Protocol: (pass* [take])* take_sampled.
class HitSampler {
 public:
  // `per_turn`: about so many hits are picked between two calls of take_sampled(), and all hits if
  // they are fewer. A sudden burst has per_turn more for each doubling of the hits; never more than
  // sampled_max(). 0: none is picked.
  HitSampler(std::size_t per_turn, std::uint64_t seed) : per_turn_(per_turn), random_(seed) {
    draw();
  }

  // Hits until the next pick.
  std::uint64_t left() const noexcept { return left_; }
  // True: the last one of these hits is picked, so take() or skip() it. REQUIRES hits <= left().
  bool pass(std::uint64_t hits) noexcept {
    left_ -= hits;
    return left_ == 0;
  }
  void take(KeyHash key) {
    if (sampled_.size() < sampled_max()) sampled_.push_back({key, gap_});
    skip();
  }
  // As take(), but it was no hit.
  void skip() noexcept;

  // The samples since the last call. Begins a turn.
  std::vector<SampledHit> take_sampled();

  std::size_t sampled_max() const { return per_turn_ * (kDoublingsMax + 1); }

 private:
  static constexpr unsigned kDoublingsMax = 16;

  void draw() noexcept;

  std::size_t per_turn_;
  Random random_;
  std::uint32_t gap_ = 1;  // mean number of hits between two picks
  std::uint64_t left_ = 0;
  std::size_t picks_of_gap_ = 0;  // in this turn, with the present gap
  std::uint64_t passed_ = 0;      // hits of this turn, as estimated by the picks
  std::vector<SampledHit> sampled_;
};

}  // namespace heatsink::admit
