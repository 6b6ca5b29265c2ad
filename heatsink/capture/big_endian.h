// SPDX-License-Identifier: Apache-2.0
// Reads unaligned numbers in network byte order.
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

}  // namespace heatsink::capture
