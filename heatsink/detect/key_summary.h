// SPDX-License-Identifier: Apache-2.0
// Writes the keys of a KeyTable into a summary: the busiest ones with their bounds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/detect/key_names.h"
#include "heatsink/detect/key_rows.h"
#include "heatsink/detect/key_tallies.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/sampling.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// What a summary needs of a table. Reads of a row roll it, and the busiest keys get tallies.
struct SummarizedKeys {
  KeyRows& rows;
  const KeyNames& names;
  KeyTallies& tallies;
  SampleBounds sample;       // of the accesses that were counted before a key was tracked
  std::uint64_t absent_max;  // no untracked key had more accesses in the sample
};

// Fills the keys, at most `keys_max` of those that may have `floor`, and absent_max. The totals
// must be set. O(rows).
void summarize(const SummarizedKeys& all, std::size_t keys_max, CountLevel floor, Summary& out);

}  // namespace heatsink::detect
