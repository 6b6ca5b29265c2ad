// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/slot_tags.h"

#include <array>
#include <cstddef>
#include <vector>

#include "heatsink/resp/key_slot.h"

namespace heatsink::resp {
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
