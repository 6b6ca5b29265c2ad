// SPDX-License-Identifier: Apache-2.0
// Sums up what a miniature has counted, and says what it would have saved.
#pragma once

#include "heatsink/admit/costs.h"
#include "heatsink/admit/miniature.h"

namespace heatsink::admit {

// Sums in which the past counts less.
struct Tally {
  double reads = 0, hits = 0, fills = 0, ended = 0;

  // `kept`: the weight of the sums so far, 0 .. 1.
  void add(const Miniature::Counts& more, double kept) {
    reads = reads * kept + static_cast<double>(more.reads);
    hits = hits * kept + static_cast<double>(more.hits);
    fills = fills * kept + static_cast<double>(more.fills);
    ended = ended * kept + static_cast<double>(more.ended);
  }
  // Reads that copies answer less what they cost, as a share of the reads. May be negative.
  double saved(const Costs& costs) const {
    return reads > 0 ? (hits - costs.fill * fills - costs.end * ended) / reads : 0;
  }
};

}  // namespace heatsink::admit
