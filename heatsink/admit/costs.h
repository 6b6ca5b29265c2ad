// SPDX-License-Identifier: Apache-2.0
// What fills and ends cost, compared with what hits spare.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::admit {

// In reads that a copy spares, with all the CPU time that counts (cost_model.h).
struct Costs {
  double fill = 1;  // beyond the read that the fill answers
  double end = 0;   // of a copy that has changed: to tell the proxy, which ends it
  // Whether a key whose copy answered so many reads before its time was over has to earn the next.
  bool earns_again(std::uint32_t reads) const { return reads_to_pay > 1 && reads < reads_to_pay; }

  // Fills that are sent together share a wake-up: those of so many reads, at most kTogetherMax.
  double wake_up = 0;
  double reads_together = 1;
  double fill_min = 0;  // no fill costs less, however many share a wake-up
  static constexpr double kTogetherMax = 32;
  // A copy that ends after fewer reads was not worth its fill: its key has to earn the next copy.
  // 1 .. kReadsToPayMax; 1: a copy whose time is over is filled again in any case.
  std::uint32_t reads_to_pay = 1;

  static constexpr std::uint32_t kReadsToPayMax = 32;

  // Fills that are sent together, where this part of the reads needs a fill.
  double together(double fills_per_read) const {
    return std::clamp(fills_per_read * reads_together, 1.0, kTogetherMax);
  }
  // `fill` with its part of the wake-up.
  double of_fill(double fills_per_read) const {
    return std::max(fill + wake_up / together(fills_per_read), fill_min);
  }
};

// The mean time between the reads of a key whose copies, of this life, just pay. Keys that are read
// more seldom get copies that end before they have paid.
inline Nanos pay_pause(Nanos life, const Costs& costs) { return life / costs.reads_to_pay; }

// The reads that a copy has to answer to be worth its fill and its end.
inline std::uint32_t reads_to_pay(double fill, double end) {
  const double reads = std::ceil(std::min<double>(fill + end, Costs::kReadsToPayMax));
  return std::max(static_cast<std::uint32_t>(reads), 1U);
}

// What copies of a key that are filled again by the next read after each write would save, as a
// share of its reads; may be negative. For reads and writes in random order: of all writes, the
// reads' share is followed by a read.
inline double saved_when_held(double reads, double writes, const Costs& costs) {
  if (reads <= 0) return -1;
  return 1 - writes / (reads + writes) * (1 + costs.fill + costs.end);
}

}  // namespace heatsink::admit
