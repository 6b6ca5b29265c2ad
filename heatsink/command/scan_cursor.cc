// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/scan_cursor.h"

#include <algorithm>
#include <charconv>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

constexpr unsigned kNodeBits = 14, kVersionBits = 7;
constexpr unsigned kDirtyShift = kNodeBits + kVersionBits;
constexpr unsigned kPassShift = kDirtyShift + 1;
constexpr unsigned kInnerShift = kPassShift + 4;

// The shard with the smallest scan_id that is not below `from`; null: none.
const topology::SlotMap::Shard* shard_from(const topology::SlotMap& map, std::uint32_t from) {
  const topology::SlotMap::Shard* next = nullptr;
  for (const topology::SlotMap::Shard& shard : map.shards)
    if (shard.scan_id >= from && (next == nullptr || shard.scan_id < next->scan_id)) next = &shard;
  return next;
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The line of the node itself: "id address flags ... link slots...".
std::string_view own_line(std::string_view nodes) {
  while (!nodes.empty()) {
    const std::size_t end = std::min(nodes.find('\n'), nodes.size());
    const std::string_view line = nodes.substr(0, end);
    if (line.find("myself") != std::string_view::npos) return line.substr(0, line.find('\r'));
    nodes.remove_prefix(std::min(end + 1, nodes.size()));
  }
  return {};
}

}  // namespace

std::optional<ScanCursor> ScanCursor::parse(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  ScanCursor out;
  if (number == 0) return out;
  out.is_begun = true;
  out.node = static_cast<std::uint16_t>(number & (resp::kSlots - 1));
  out.version = static_cast<std::uint16_t>((number >> kNodeBits) & ((1U << kVersionBits) - 1));
  out.is_dirty = ((number >> kDirtyShift) & 1) != 0;
  out.pass = static_cast<std::uint16_t>((number >> kPassShift) & 15);
  out.inner = number >> kInnerShift;
  return out;
}

std::string ScanCursor::text() const {
  return std::to_string((inner << kInnerShift) | (std::uint64_t{pass} << kPassShift) |
                        (std::uint64_t{is_dirty ? 1U : 0U} << kDirtyShift) |
                        (std::uint64_t{version} << kNodeBits) | node);
}

std::optional<topology::NodeIndex> ScanCursor::go_on(const topology::SlotMap& map,
                                                     std::uint64_t map_version) {
  const auto now = static_cast<std::uint16_t>(1 + map_version % kVersions);
  if (is_begun && version != now) is_dirty = true;
  version = now;
  const topology::SlotMap::Shard* shard = shard_from(map, is_begun ? node : 0U);
  // The last node has left the cluster: go on with a new pass.
  if (shard == nullptr && is_begun) {
    shard = shard_from(map, 0);
    is_dirty = false;
    pass = std::min<std::uint16_t>(pass + 1, kPassesMax - 1);
  }
  if (shard == nullptr) return std::nullopt;
  // The cursor of a node that has left says nothing to the next one.
  if (!is_begun || shard->scan_id != node) inner = 0;
  node = shard->scan_id;
  return shard->master;
}

std::optional<std::string> ScanCursor::after(std::uint64_t answered,
                                             const topology::SlotMap& map) const {
  ScanCursor next = *this;
  next.is_begun = true;
  if (answered > kInnerMax) return std::nullopt;
  next.inner = answered;
  if (answered != 0) return next.text();
  const topology::SlotMap::Shard* const shard = shard_from(map, node + 1U);
  if (shard == nullptr) return "";
  next.node = shard->scan_id;
  return next.text();
}

std::string ScanCursor::end_pass(Moves moves, const topology::SlotMap& map) const {
  const bool is_last = pass + 1 >= kPassesMax || (!is_dirty && moves == Moves::kNone);
  const topology::SlotMap::Shard* const first = shard_from(map, 0);
  if (is_last || first == nullptr) return "0";
  ScanCursor next = *this;
  next.is_begun = true;
  next.is_dirty = false;
  next.inner = 0;
  next.node = first->scan_id;
  // A slot that is being moved leads one way, so one more pass finds its keys.
  next.pass =
      !is_dirty && moves == Moves::kBegun ? kPassesMax - 1 : static_cast<std::uint16_t>(pass + 1);
  return next.text();
}

ScanCursor::Moves moves_in(std::string_view cluster_nodes, topology::NodeIndex node,
                           const topology::SlotMap& map) {
  constexpr int kEpoch = 6, kFirstSlots = 8;
  std::string_view line = own_line(cluster_nodes);
  if (line.empty()) return ScanCursor::Moves::kNone;
  bool is_moving = false;
  std::size_t owned = 0;
  for (int field = 0; !line.empty(); ++field) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    if (field == kEpoch && number_in(word) > map.epoch) return ScanCursor::Moves::kDone;
    if (field < kFirstSlots || word.empty()) continue;
    if (word.starts_with('[')) {
      is_moving = true;
      continue;
    }
    const std::size_t dash = word.find('-');
    const std::uint64_t first = number_in(word);
    const std::uint64_t last =
        dash == std::string_view::npos ? first : number_in(word.substr(dash + 1));
    for (std::uint64_t slot = first; slot <= last && slot < resp::kSlots; ++slot, ++owned)
      if (map.owner(static_cast<std::uint16_t>(slot)) != node) return ScanCursor::Moves::kDone;
  }
  std::size_t expected = 0;
  for (const topology::SlotMap::Shard& shard : map.shards)
    if (shard.master == node) expected = shard.slots;
  if (owned != expected) return ScanCursor::Moves::kDone;
  return is_moving ? ScanCursor::Moves::kBegun : ScanCursor::Moves::kNone;
}

}  // namespace heatsink::proxy
