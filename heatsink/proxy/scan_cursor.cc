// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/scan_cursor.h"

#include <charconv>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

constexpr unsigned kAnchorBits = 14, kVersionBits = 9;
constexpr unsigned kDirtyShift = kAnchorBits + kVersionBits;
constexpr unsigned kInnerShift = kDirtyShift + 1;

// The first slots of all nodes that are not before `from`: the smallest. nullopt: none.
std::optional<std::uint16_t> next_anchor(const topology::SlotMap& map, std::uint16_t from) {
  std::optional<std::uint16_t> next;
  for (const topology::SlotMap::Shard& shard : map.shards) {
    const std::uint16_t first = shard.first_slot;
    if (first >= from && (!next || first < *next)) next = first;
  }
  return next;
}

}  // namespace

std::optional<ScanCursor> ScanCursor::parse(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  ScanCursor out;
  if (number == 0) return out;
  out.is_begun = true;
  out.anchor = static_cast<std::uint16_t>(number & (resp::kSlots - 1));
  out.version = static_cast<std::uint16_t>((number >> kAnchorBits) & ((1U << kVersionBits) - 1));
  out.is_dirty = ((number >> kDirtyShift) & 1) != 0;
  out.inner = number >> kInnerShift;
  return out;
}

std::string ScanCursor::text() const {
  return std::to_string((inner << kInnerShift) |
                        (std::uint64_t{is_dirty ? 1U : 0U} << kDirtyShift) |
                        (std::uint64_t{version} << kAnchorBits) | anchor);
}

std::optional<topology::NodeIndex> ScanCursor::go_on(const topology::SlotMap& map,
                                                     std::uint64_t map_version) {
  const auto now = static_cast<std::uint16_t>(1 + map_version % kVersions);
  if (is_begun && version != now) {
    is_dirty = true;
    inner = 0;
  }
  version = now;
  const std::uint16_t from = is_begun ? anchor : std::uint16_t{0};
  // The anchor's owner, even if it has got slots before the anchor meanwhile.
  if (is_begun && map.owner(from) != topology::kNoNode) return map.owner(from);
  const std::optional<std::uint16_t> found = next_anchor(map, from);
  if (!found) return std::nullopt;
  anchor = *found;
  return map.owner(*found);
}

std::optional<std::string> ScanCursor::after(std::uint64_t answered,
                                             const topology::SlotMap& map) const {
  ScanCursor next = *this;
  next.is_begun = true;
  if (answered > kInnerMax) return std::nullopt;
  next.inner = answered;
  if (answered != 0) return next.text();
  const auto from = static_cast<std::uint16_t>(anchor + 1);
  const std::optional<std::uint16_t> anchor_after =
      from < resp::kSlots ? next_anchor(map, from) : std::nullopt;
  if (anchor_after) {
    next.anchor = *anchor_after;
    return next.text();
  }
  if (!is_dirty) return "0";
  next.is_dirty = false;
  next.anchor = next_anchor(map, 0).value_or(0);
  return next.text();
}

}  // namespace heatsink::proxy
