// SPDX-License-Identifier: Apache-2.0
// Inside capture: reads the numbers of packets: unaligned ones in network byte order, the fixed
// ones of headers, and sequence numbers of TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heatsink::capture {

// REQUIRES the bytes to be there.
inline std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}
inline std::uint16_t big16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}
inline std::uint32_t big32(std::string_view bytes, std::size_t at) {
  return std::uint32_t{big16(bytes, at)} << 16 | big16(bytes, at + 2);
}

// Inside capture: the fixed numbers of link and network headers.
inline constexpr std::uint32_t kEthernetBytes = 14;
inline constexpr std::uint32_t kIpv6Bytes = 40;
inline constexpr std::uint32_t kTcp = 6;  // its number in IP headers

// How far `a` is after `b` in the stream; negative: before it. Correct within 2 GiB (RFC 9293 3.4),
// twice the largest window of TCP.
inline std::int32_t distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace heatsink::capture
