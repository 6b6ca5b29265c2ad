// SPDX-License-Identifier: Apache-2.0
// Says in which slots the copies of one key are, and chooses these slots.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::spread {

// The layout of one key, which all proxies read from layout_name(key). It decides where they look
// for copies, not whether a copy may be used: proxies with different layouts are correct, too, but
// a write through one of them ends only the copies that it knows; the others end by their TTL.
struct Layout {
  std::int64_t made_ms = 0;          // by the clock of the key's node
  std::vector<std::uint16_t> slots;  // of the copies; no slot twice
  friend bool operator==(const Layout&, const Layout&) = default;
};

// A layout is replaced at the earliest after this time. It ends by itself, so that deleted rules
// leave nothing behind; then the next read makes a new one.
inline constexpr std::int64_t kLayoutLeastMs = 60'000;
inline constexpr std::int64_t kLayoutEndsMs = 3'600'000;

// A proxy's thread or a program keeps at most so many layouts. It asks again for one that is older
// than that, so it knows the changes of others by then.
inline constexpr std::size_t kLayoutsKept = 10'000;
inline constexpr Nanos kLayoutFresh = std::chrono::seconds(10);

// "12,5473,10934"
std::string slots_text(std::span<const std::uint16_t> slots);
// "hs1 1700000000000 12,5473,10934": the value of layout_name(key).
std::string to_text(const Layout& layout);
// nullopt: anything else, as of a later version, or of a client that uses this name. Accepts only
// what to_text() makes. O(bytes).
std::optional<Layout> parse_layout(std::string_view text);

// The owner of each slot as a number; kNoOwner: none.
inline constexpr std::uint16_t kNoOwner = 0xFFFF;
using Owners = std::span<const std::uint16_t>;

// Slots for `count` copies (at most kPiecesMax), equally many on each node, and the node of the key
// last, because it has the misses and the writes. Fewer than `count` only if the nodes have fewer
// slots. Pure: proxies with the same map choose the same. O(slots) for each copy, at worst.
// REQUIRES resp::kSlots owners.
std::vector<std::uint16_t> choose_slots(std::uint16_t key_slot, std::size_t count, Owners owners);

// Slots that should replace those of the layout: it has fewer than `count` copies, or one node has
// two copies more than another, or a slot has no owner. nullopt: it is good enough. A layout with
// more copies stays, so that proxies with different rules do not replace each other's.
std::optional<std::vector<std::uint16_t>> better_slots(const Layout& layout, std::uint16_t key_slot,
                                                       std::size_t count, Owners owners);

}  // namespace heatsink::spread
