// SPDX-License-Identifier: Apache-2.0
// Encodes a Summary for other processes: versioned, bounded, the same bytes for the same numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/stats/summary.h"

namespace heatsink::stats {

// Byte 1 (the version); count, sum, min, max; then for each bucket that is not empty how far it is
// from the one before, and its count. Varints (LEB128) throughout, signed ones zigzag. About 3
// bytes a bucket: a thousandfold range of numbers takes 1 KB, whatever their count.
inline constexpr std::size_t kWireBytesMax = 64 + 2 * kBucketsEachSign * 13;

std::string encode(const Summary& summary);

// kProtocol: not of this form, or one that contradicts itself (buckets that do not add up to the
// count, numbers outside [min, max]). Reads the whole of `bytes`; allocates by what is there.
Result<Summary> decode(std::string_view bytes);

}  // namespace heatsink::stats
