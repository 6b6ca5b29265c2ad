// SPDX-License-Identifier: Apache-2.0
// Chooses the hits to audit: a random share, with a limit per second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::copies {

// One thread. No clock.
class AuditSampler {
 public:
  // `rate`: the share of hits to audit; 0: none. `pause_min`: the least pause between two audits.
  AuditSampler(Share rate, Nanos pause_min, std::uint64_t seed)
      : gap_mean_(rate.part > 0 ? 1 / rate.part : 0), pause_min_(pause_min), random_(seed) {
    draw();
  }

  // Hits until the next one that may be audited.
  std::uint64_t left() const noexcept { return left_; }
  // True: ask take() about the last one of these hits. REQUIRES hits <= left().
  bool pass(std::uint64_t hits) noexcept {
    left_ -= hits;
    return left_ == 0;
  }

  // True: audit this hit.
  bool take(TimePoint now) noexcept {
    draw();
    if (now < next_at_) return false;
    // A random pause of 0.5 to 1.5 times pause_min, so that periodic hits do not stay in step with
    // it.
    next_at_ = now + pause_min_ / 2 + Nanos(static_cast<std::int64_t>(part() * ns(pause_min_)));
    return true;
  }

 private:
  static double ns(Nanos duration) { return static_cast<double>(duration.count()); }

  // Uniform over 1 to twice the mean. When off: a distance that no counter reaches.
  void draw() noexcept {
    left_ = gap_mean_ == 0 ? std::numeric_limits<std::uint64_t>::max()
                           : 1 + static_cast<std::uint64_t>(part() * (2 * gap_mean_ - 1));
  }
  double part() noexcept {                                                // 0 .. 1
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    return static_cast<double>(random_ >> 11) / 9007199254740992.0;
  }

  double gap_mean_;  // hits between two audits; 0: off
  Nanos pause_min_;
  std::uint64_t random_;
  std::uint64_t left_ = 0;
  TimePoint next_at_{};
};

}  // namespace heatsink::copies
