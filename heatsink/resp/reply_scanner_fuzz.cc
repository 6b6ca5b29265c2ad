// SPDX-License-Identifier: Apache-2.0
// Scans any bytes in any pieces: the scanner must find the same replies each time, and those of the
// value parser. The first two bytes of the input are piece sizes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heatsink/resp/testing/reply_trace.h"

using heatsink::resp::testing::pieces_of;
using heatsink::resp::testing::ReplyTrace;
using heatsink::resp::testing::same_extents;
using heatsink::resp::testing::trace_replies;
using heatsink::resp::testing::trace_values;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const ReplyTrace whole = trace_replies(bytes);
  if (trace_replies(bytes, pieces_of({data[0] % 32u, data[1] % 32u})) != whole) std::abort();
  if (trace_replies(bytes, pieces_of({1})) != whole) std::abort();
  if (!same_extents(whole, trace_values(bytes))) std::abort();
  return 0;
}
