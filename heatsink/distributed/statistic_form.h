// SPDX-License-Identifier: Apache-2.0
// Encodes statistics as the server stores them, in a form that its Lua can read and merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// A part is a MessagePack array of integers, which cmsgpack reads and writes at the speed of C:
//   sum in four digits of 32 bits, lowest first, the last one signed
//   min and max in two digits each, highest first and signed
//   for each bucket that is not empty: its distance from the one before, and its count
// Buckets of both signs are in one row, in ascending order of value. Lua's numbers are doubles, so
// no digit exceeds 2^53 before the server carries. Two or three bytes per bucket. The count is the
// sum of all buckets.
inline constexpr std::size_t kPartBytesMax = 64 + 2 * stats::kBucketsEachSign * 12;

// REQUIRES: not empty.
std::string encode_part(const stats::Summary& summary);

// A slot: its number (in slots since 1970), then parts, one after the other. decode_slot() adds up
// the parts. kProtocol: another form.
struct Slot {
  std::int64_t number = 0;
  stats::Summary summary;
};
Result<Slot> decode_slot(std::string_view bytes);

// The error for data of another form; `what` is the reason.
Error malformed_statistic(const char* what);

// Decodes exactly `count` integers from `bytes`.
Result<std::vector<std::int64_t>> decode_integers(std::string_view bytes, std::size_t count);

}  // namespace heatsink::distributed
