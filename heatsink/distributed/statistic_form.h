// SPDX-License-Identifier: Apache-2.0
// Statistics as the server keeps them: numbers that its own Lua can read and merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// A part: a MessagePack array of integers, which cmsgpack reads and writes at the speed of C:
//   sum in four digits of 32 bits, lowest first, the last one signed
//   min and max in two digits each, highest first and signed
//   for each bucket that is not empty: how far it is from the one before, and its count
// Buckets of both signs stand in one row, rising by value. Lua's numbers are doubles, so no digit
// passes 2^53 before the server carries. Two or three bytes a bucket. The count is that of all
// buckets.
inline constexpr std::size_t kPartBytesMax = 64 + 2 * stats::kBucketsEachSign * 12;

// REQUIRES: not empty.
std::string encode_part(const stats::Summary& summary);

// A slot: its number (counted since 1970 in slots), then parts, one after the other. Adds up those
// parts. kProtocol: not of this form.
struct Slot {
  std::int64_t number = 0;
  stats::Summary summary;
};
Result<Slot> decode_slot(std::string_view bytes);

// That something is not of this form: `what` says why.
Error malformed_statistic(const char* what);

// The integers of `bytes`, of which there are `count` and no more.
Result<std::vector<std::int64_t>> decode_integers(std::string_view bytes, std::size_t count);

}  // namespace heatsink::distributed
