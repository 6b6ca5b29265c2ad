// SPDX-License-Identifier: Apache-2.0
// Compares TCP sequence numbers, which wrap around.
#pragma once

#include <cstdint>

namespace heatsink::capture {

// How far `a` is after `b` in the stream; negative: before it. Correct within 2 GiB (RFC 9293 3.4),
// twice the largest window of TCP.
inline std::int32_t distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace heatsink::capture
