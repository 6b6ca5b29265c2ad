// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_slot.h"

#include <array>
#include <cstddef>
#include <vector>

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

namespace {

struct Tag {
  std::array<char, 4> text{};
  std::uint8_t length = 0;  // 0: not found yet
};
using Tags = std::vector<Tag>;

// Numbers in base 36, one after the other. The last slot is found after 87 573 of them.
Tags make_tags() {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  Tags tags(kSlots);
  std::size_t found = 0;
  for (std::size_t number = 0; found < tags.size(); ++number) {
    Tag tag;
    std::size_t rest = number;
    do {
      tag.text[tag.length++] = kDigits[rest % kDigits.size()];
      rest /= kDigits.size();
    } while (rest > 0);
    Tag& slot = tags[key_slot({tag.text.data(), tag.length})];
    if (slot.length != 0) continue;
    slot = tag;
    ++found;
  }
  return tags;
}

}  // namespace

std::string_view tag_of_slot(std::uint16_t slot) {
  static const Tags kTags = make_tags();
  const Tag& tag = kTags[slot];
  return {tag.text.data(), tag.length};
}

std::string name_in_slot(std::uint16_t slot, std::string_view name) {
  std::string out = "{";
  out += tag_of_slot(slot);
  out += '}';
  out += name;
  return out;
}

}  // namespace heatsink::resp
