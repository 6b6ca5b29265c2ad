// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_slot.h"

namespace heatsink::resp {
namespace {

// Bit by bit, without a table: used for the few keys that users look at, not for each request.
std::uint16_t crc16(std::string_view bytes) {
  std::uint32_t crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    crc &= 0xffffU;
  }
  return static_cast<std::uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t key_slot(std::string_view key) {
  return static_cast<std::uint16_t>(crc16(hashed_part(key)) % kSlots);
}

}  // namespace heatsink::resp
