// SPDX-License-Identifier: Apache-2.0
// Compares TCP sequence numbers, which wrap around.
#pragma once

#include <cstdint>

namespace heatsink::capture {

// How far `a` stands behind `b` in the stream; negative: before it. Right within 2 GiB (RFC 9293
// 3.4), which is twice the largest window that TCP has.
inline std::int32_t distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace heatsink::capture
