// SPDX-License-Identifier: Apache-2.0
// Joins the summaries of several shards, processes or nodes, in any order, with their error bounds.
#pragma once

#include <cstddef>
#include <span>

#include "heatsink/base/result.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// kInvalidArgument, saying why, unless the two count the same thing over windows of one length. A
// summary that was never filled (window 0) goes with any.
Status mergeable(const Summary& a, const Summary& b);

// Counts add; a key absent from a shard adds that shard's absent_max to its high, a command or
// client absent from a shard's key adds those accesses of the key that the shard gave to nobody.
// Nothing is cut, so the result is the same, byte for byte, in any order *and in any grouping*, and
// Summary{} changes nothing. Sums stop at 2^64 - 1, so low <= high whatever came from the wire.
//
// `at` and `covered` are the largest: clocks of other nodes turn their slots at other moments, so
// the rates of a union are up to one slot (10 %) too low, never too high.
//
// REQUIRES: mergeable() pairwise; hashes of one seed (wire.h makes them so), different within a
// summary; no more tallied than reads + writes. O(keys), and O(n log n) in a key's tallies.
Summary join(std::span<const Summary> shards);

// Keeps the `keys_max` busiest keys, and of each key kTalliesMax commands and clients; what goes
// raises absent_max, so the bounds stay true.
void cut(Summary& summary, std::size_t keys_max);

// join(), then cut(). Grouped, it gives the same as long as only the last step cuts; where an
// earlier one cuts, its bounds are wider, and true.
Summary merge(std::span<const Summary> shards, std::size_t keys_max);

}  // namespace heatsink::detect
