// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/layout.h"

#include <algorithm>
#include <map>

#include "heatsink/resp/resp.h"
#include "heatsink/spread/names.h"

namespace heatsink::spread {
namespace {

constexpr std::string_view kVersion = "hs1 ";

// The part of `text` before `end`, which is removed with it; all of it without an end.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return taken;
}

// The nodes in the order of their slots, beginning behind the node of the key.
std::vector<std::uint16_t> nodes_after(std::uint16_t key_slot, Owners owners) {
  std::vector<std::uint16_t> nodes;
  for (const std::uint16_t owner : owners)
    if (owner != kNoOwner && std::ranges::find(nodes, owner) == nodes.end()) nodes.push_back(owner);
  const auto own = std::ranges::find(nodes, owners[key_slot]);
  if (own != nodes.end()) std::rotate(nodes.begin(), own + 1, nodes.end());
  return nodes;
}

bool is_even(const std::vector<std::uint16_t>& slots, Owners owners) {
  std::map<std::uint16_t, std::size_t> copies;
  for (const std::uint16_t owner : owners)
    if (owner != kNoOwner) copies.try_emplace(owner, 0);
  for (const std::uint16_t slot : slots) {
    if (owners[slot] == kNoOwner) return false;
    ++copies[owners[slot]];
  }
  if (copies.empty()) return false;
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(copies.begin(), copies.end(), by_count);
  return most->second - least->second <= 1;
}

}  // namespace

std::string slots_text(std::span<const std::uint16_t> slots) {
  std::string text;
  for (const std::uint16_t slot : slots) text += (text.empty() ? "" : ",") + std::to_string(slot);
  return text;
}

std::string to_text(const Layout& layout) {
  std::string text(kVersion);
  text += std::to_string(layout.made_ms);
  if (!layout.slots.empty()) text += ' ' + slots_text(layout.slots);
  return text;
}

std::optional<Layout> parse_layout(std::string_view text) {
  if (!text.starts_with(kVersion)) return std::nullopt;
  text.remove_prefix(kVersion.size());
  const std::optional<std::int64_t> made = resp::parse_decimal(take_until(text, ' '));
  if (!made || *made < 0 || text.empty() || text.ends_with(',')) return std::nullopt;
  Layout layout{*made, {}};
  while (!text.empty()) {
    const std::optional<std::int64_t> slot = resp::parse_decimal(take_until(text, ','));
    if (!slot || *slot < 0 || *slot >= resp::kSlots) return std::nullopt;
    const auto number = static_cast<std::uint16_t>(*slot);
    const bool is_new = std::ranges::find(layout.slots, number) == layout.slots.end();
    if (!is_new || layout.slots.size() == kPiecesMax) return std::nullopt;
    layout.slots.push_back(number);
  }
  return layout;
}

std::vector<std::uint16_t> choose_slots(std::uint16_t key_slot, std::size_t count, Owners owners) {
  const std::vector<std::uint16_t> nodes = nodes_after(key_slot, owners);
  std::vector<std::uint16_t> slots;
  if (nodes.empty()) return slots;
  for (std::size_t i = 0; i < std::min(count, kPiecesMax); ++i) {
    const std::uint16_t node = nodes[i % nodes.size()];
    const std::size_t first = part_slot(key_slot, i);
    for (std::size_t step = 0; step < resp::kSlots; ++step) {
      const auto slot = static_cast<std::uint16_t>((first + step) % resp::kSlots);
      if (owners[slot] != node || std::ranges::find(slots, slot) != slots.end()) continue;
      slots.push_back(slot);
      break;
    }
  }
  return slots;
}

std::optional<std::vector<std::uint16_t>> better_slots(const Layout& layout, std::uint16_t key_slot,
                                                       std::size_t count, Owners owners) {
  if (layout.slots.size() >= count && is_even(layout.slots, owners)) return std::nullopt;
  std::vector<std::uint16_t> chosen =
      choose_slots(key_slot, std::max(count, layout.slots.size()), owners);
  if (chosen.empty() || chosen == layout.slots) return std::nullopt;
  return chosen;
}

}  // namespace heatsink::spread
