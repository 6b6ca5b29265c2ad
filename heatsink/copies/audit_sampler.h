// SPDX-License-Identifier: Apache-2.0
// Which hits are audited: one in so many, drawn at random, and no more than so many per second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::copies {

// One thread. What it costs each hit is due(): a count-down and a branch.
class AuditSampler {
 public:
  // `rate`: the part of the hits, 0: none. `pause_min` is kept between two of them.
  AuditSampler(Share rate, Nanos pause_min, std::uint64_t seed)
      : gap_mean_(rate.part > 0 ? 1 / rate.part : 0), pause_min_(pause_min), random_(seed) {
    draw();
  }

  // Once per hit. True: ask take().
  bool due() noexcept { return --left_ == 0; }

  // Whether this hit is to be audited.
  bool take(TimePoint now) noexcept {
    draw();
    if (now < next_at_) return false;
    // Between the half of it and one and a half: hits at even intervals are not in step with it.
    next_at_ = now + pause_min_ / 2 + Nanos(static_cast<std::int64_t>(part() * ns(pause_min_)));
    return true;
  }

 private:
  static double ns(Nanos duration) { return static_cast<double>(duration.count()); }

  // Even over 1 .. twice the mean. Off: further away than anybody counts.
  void draw() noexcept {
    left_ = gap_mean_ == 0 ? std::numeric_limits<std::uint64_t>::max()
                           : 1 + static_cast<std::uint64_t>(part() * (2 * gap_mean_ - 1));
  }
  double part() noexcept {                                                // 0 .. 1
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    return static_cast<double>(random_ >> 11) / 9007199254740992.0;
  }

  const double gap_mean_;  // hits; 0: off
  const Nanos pause_min_;
  std::uint64_t random_;
  std::uint64_t left_ = 0;
  TimePoint next_at_{};
};

}  // namespace heatsink::copies
