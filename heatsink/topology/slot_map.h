// SPDX-License-Identifier: Apache-2.0
// Says which node of a cluster owns each slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::topology {

// The number of a node in the ClusterDirectory: given once, and never to another address.
using NodeIndex = std::uint16_t;
inline constexpr NodeIndex kNoNode = 0xFFFF;

// Immutable once published; any thread. 32 KiB, and a few bytes per node.
struct SlotMap {
  SlotMap() { owners.fill(kNoNode); }

  NodeIndex owner(std::uint16_t slot) const { return owners[slot]; }
  // Any slot of the node, by a random number. nullopt: it has none. Cost: up to 16384 steps.
  std::optional<std::uint16_t> slot_of(NodeIndex node, std::uint64_t random) const {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const auto slot = static_cast<std::uint16_t>((random + i) % owners.size());
      if (owners[slot] == node) return slot;
    }
    return std::nullopt;
  }

  struct Shard {
    NodeIndex master = kNoNode;
    std::vector<NodeIndex> replicas;
    std::size_t slots = 0;         // how many
    std::uint16_t first_slot = 0;  // the smallest
    // A number below resp::kSlots that follows from the master's address, so that other proxies
    // give it the same one. No two shards have the same.
    std::uint16_t scan_id = 0;
    friend bool operator==(const Shard&, const Shard&) = default;
  };
  std::array<NodeIndex, resp::kSlots> owners;
  std::vector<Shard> shards;  // by first slot
  // cluster_current_epoch of the node that the map is from.
  std::uint64_t epoch = 0;
  // The config epochs of the masters with slots; a master whose epoch is not known is not in it.
  std::map<NodeIndex, std::uint64_t> config_epochs;
};

}  // namespace heatsink::topology
