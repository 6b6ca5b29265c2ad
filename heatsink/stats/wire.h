// SPDX-License-Identifier: Apache-2.0
// Encodes a Summary for other processes: versioned, bounded, the same bytes for the same numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/stats/summary.h"

namespace heatsink::stats {

// Byte 1 (the version); count, sum, min, max; then for each bucket that is not empty its distance
// from the one before, and its count. All are varints (LEB128), signed ones zigzag. About 3 bytes
// per bucket: a thousandfold range of numbers takes 1 KB, whatever their count.
inline constexpr std::size_t kWireBytesMax = 64 + 2 * kBucketsEachSign * 13;

std::string encode(const Summary& summary);

// kProtocol: another form, or a contradiction (buckets that do not add up to the count, numbers
// outside [min, max]). Reads all of `bytes`; allocates only for the data that is there.
Result<Summary> decode(std::string_view bytes);

}  // namespace heatsink::stats
