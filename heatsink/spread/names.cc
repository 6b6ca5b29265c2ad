// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/names.h"

#include "heatsink/resp/resp.h"

namespace heatsink::spread {
namespace {

constexpr std::string_view kOwn = ":hs:";

std::string name_of(std::uint16_t slot, std::string_view what, std::string_view key) {
  std::string name(kOwn);
  name += what;
  name += ':';
  name += key;
  return resp::name_in_slot(slot, name);
}

}  // namespace

std::string copy_name(std::uint16_t slot, std::string_view key) {
  return name_of(slot, "copy", key);
}

std::string layout_name(std::string_view key) {
  return name_of(resp::key_slot(key), "layout", key);
}

std::string part_name(std::string_view key, std::size_t part) {
  if (part == 0) return std::string(key);
  return name_of(part_slot(resp::key_slot(key), part), "part", key);
}

std::uint16_t van_der_corput(std::size_t index, std::uint16_t whole) {
  std::uint16_t sum = 0;
  for (std::uint16_t half = whole / 2; index > 0 && half > 0; index >>= 1U, half /= 2)
    if ((index & 1U) != 0) sum = static_cast<std::uint16_t>(sum + half);
  return sum;
}

std::uint16_t part_slot(std::uint16_t key_slot, std::size_t part) {
  return static_cast<std::uint16_t>((key_slot + van_der_corput(part, resp::kSlots)) % resp::kSlots);
}

bool is_own_name(std::string_view name) {
  if (!name.starts_with('{')) return false;
  const std::size_t end = name.find('}');
  return end != std::string_view::npos && name.substr(end + 1).starts_with(kOwn);
}

}  // namespace heatsink::spread
