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
// and a client may keep it as long as it likes. It holds the node's own cursor, the first slot of
// the node, a part of the number of the map, and whether slots have changed their owners since the
// scan began. After such a change keys may be on a node that was scanned before, and a node's
// cursor may belong to another node. So that node is begun again, and after the last node the scan
// begins once more. Keys may come twice, as SCAN allows anyway; a key that exists all the time
// comes at least once, unless its slot moves so slowly that the map stays the same from the first
// node to the last.
struct ScanCursor {
  std::uint64_t inner = 0;    // of the node
  std::uint16_t anchor = 0;   // the first slot of the node
  std::uint16_t version = 0;  // 1 + that of the map modulo kVersions; 0: none
  bool is_dirty = false;      // the map has changed since the scan began
  bool is_begun = false;      // false: the client's "0"

  static constexpr std::uint64_t kVersions = 511;
  static constexpr std::uint64_t kInnerMax = (std::uint64_t{1} << 40) - 1;

  // nullopt: not a number that text() makes.
  static std::optional<ScanCursor> parse(std::string_view text);
  std::string text() const;

  // Begins or goes on with this map, whose number is `map_version`. Returns the node to ask, with
  // the cursor `inner`. nullopt: the map has no node.
  std::optional<topology::NodeIndex> go_on(const topology::SlotMap& map, std::uint64_t map_version);
  // The node has answered with this cursor. Returns what the client gets: "0" at the end. nullopt:
  // the node's cursor is too large.
  std::optional<std::string> after(std::uint64_t answered, const topology::SlotMap& map) const;
};

}  // namespace heatsink::proxy
