// SPDX-License-Identifier: Apache-2.0
// Joins the summaries of shards, processes or nodes, in any order, with their error bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heatsink/base/result.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// For counts of any size: sums stop at 2^64 - 1. Wide enough for any sum of counts, and for modular
// arithmetic. (__extension__: -Wpedantic.)
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

constexpr std::uint64_t capped_to_64_bits(Wide n) {
  return n > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(n);
}

constexpr void add_capped(std::uint64_t& to, std::uint64_t n) {
  to = capped_to_64_bits(Wide{to} + n);
}

// kInvalidArgument, with the reason, unless both count the same dimension over windows of one
// length. A summary that was never filled (window 0) fits any other.
Status mergeable(const Summary& a, const Summary& b);

// Counts add up. A key that a shard does not list adds the shard's absent_max to its high. A
// command or client that a shard does not list adds the accesses of the key that the shard assigned
// to no name. join() drops nothing, so the result is the same, byte for byte, in any order *and in
// any grouping*, and Summary{} changes nothing. Sums saturate at 2^64 - 1, so low <= high for any
// input.
//
// Templates add up in the same way; a shard that does not count them widens their bounds by all its
// accesses.
//
// `at` and `covered` are the maxima. The clocks of other nodes turn their slots at other moments,
// so the rates of a union are up to one slot (10 %) too low, never too high.
//
// REQUIRES: mergeable() pairwise; hashes of one seed (wire.h ensures it), distinct within a
// summary; tallies add up to no more than reads + writes. O(keys), and O(n log n) in a key's
// tallies.
Summary join(std::span<const Summary> shards);

// The part of join() that is neither keys nor templates, nor absent_max. REQUIRES mergeable().
void add_totals(Summary& out, const Summary& shard);

// The order of a summary's keys: by high, descending.
bool is_busier(const KeyCount& a, const KeyCount& b);

// Keeps the `keys_max` busiest keys, with kTalliesMax commands and clients each, and
// kTemplatesMax templates. Dropped ones raise absent_max, so the bounds stay true.
void cut(Summary& summary, std::size_t keys_max);

// join(), then cut(). Grouping does not matter if only the last step cuts; an earlier cut makes the
// bounds wider, but keeps them true.
Summary merge(std::span<const Summary> shards, std::size_t keys_max);

}  // namespace heatsink::detect
