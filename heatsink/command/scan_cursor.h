// SPDX-License-Identifier: Apache-2.0
// The cursor of a SCAN that goes through the nodes of a cluster one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/topology/slot_map.h"

namespace heatsink::proxy {

// The cursor that a client sees is one number, so any connection of the proxy can go on with it,
// and a client may keep it as long as it likes. It holds the node's own cursor, the node
// (SlotMap::Shard::scan_id), a part of the number of the map, and how often the scan has gone
// through all nodes.
//
// A key whose slot moves may be on the old node while the new one is scanned, and on the new node
// while the old one is. So if slots have moved, or are being moved, during a pass over all nodes,
// another pass follows. A slot that moves once during two passes is stationary in one of them.
// After kPassesMax passes the scan ends anyway, as a client expects. Keys may come twice, as SCAN
// allows.
struct ScanCursor {
  std::uint64_t inner = 0;    // of the node
  std::uint16_t node = 0;     // its scan_id
  std::uint16_t version = 0;  // 1 + that of the map modulo kVersions; 0: none
  std::uint16_t pass = 0;     // before kPassesMax
  bool is_dirty = false;      // the map has changed since the pass began
  bool is_begun = false;      // false: the client's "0"

  static constexpr std::uint64_t kVersions = 127;
  static constexpr std::uint64_t kInnerMax = (std::uint64_t{1} << 38) - 1;
  static constexpr std::uint16_t kPassesMax = 16;

  // nullopt: not a number that text() makes.
  static std::optional<ScanCursor> parse(std::string_view text);
  std::string text() const;

  // Begins or goes on with this map, whose number is `map_version`. Returns the node to ask, with
  // the cursor `inner`. nullopt: the map has no node.
  std::optional<topology::NodeIndex> go_on(const topology::SlotMap& map, std::uint64_t map_version);
  // The node has answered with this cursor. Returns what the client gets; "": the pass has ended,
  // and end_pass() decides. nullopt: the node's cursor is too large.
  std::optional<std::string> after(std::uint64_t answered, const topology::SlotMap& map) const;
  // Whether end_pass() depends on `moves`.
  bool asks_for_moves() const { return !is_dirty && pass + 1 < kPassesMax; }
  // The masters' answer about their slots at the end of a pass.
  enum class Moves : std::uint8_t {
    kNone,
    kBegun,  // a slot is being moved, and no slot has another owner than in the map
    kDone,   // a slot has another owner, or had one since the map was made
  };
  std::string end_pass(Moves moves, const topology::SlotMap& map) const;
};

// The answers of the nodes that own slots by `map` to CLUSTER NODES, each about itself. Text or
// wire form; anything else counts as kNone, because a node may refuse the command.
ScanCursor::Moves moves_in(std::string_view cluster_nodes, topology::NodeIndex node,
                           const topology::SlotMap& map);

}  // namespace heatsink::proxy
