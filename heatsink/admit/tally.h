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
  double fills_per_read() const { return reads > 0 ? fills / reads : 0; }
  double hits_per_read() const { return reads > 0 ? hits / reads : 0; }
  // Reads that copies answer less what they cost, as a share of the reads. May be negative.
  double saved(const Costs& costs) const {
    if (reads <= 0) return 0;
    return (hits - costs.of_fill(fills_per_read()) * fills - costs.end * ended) / reads;
  }
};

}  // namespace heatsink::admit
