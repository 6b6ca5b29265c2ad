// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_slot.h"

#include <array>

namespace heatsink::resp {
namespace {

// By byte: routing hashes each key of each request.
constexpr std::array<std::uint16_t, 256> kCrcOfByte = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) {
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    const auto index = static_cast<unsigned char>((crc >> 8U) ^ static_cast<unsigned char>(byte));
    crc = static_cast<std::uint16_t>((crc << 8U) ^ kCrcOfByte[index]);
  }
  return crc;
}

}  // namespace

std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return {};
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos) return {};
  return key.substr(open + 1, close - open - 1);
}

std::uint16_t key_slot(std::string_view key) {
  const std::string_view tag = hash_tag(key);
  return static_cast<std::uint16_t>(crc16(tag.empty() ? key : tag) % kSlots);
}

}  // namespace heatsink::resp
