// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_stats_poll.h"

#include <array>
#include <string>
#include <string_view>

namespace heatsink::topology {

void SlotStatsPoll::ask_stats(NodeIndex node, std::uint16_t first, std::uint16_t last) {
  const std::string from = std::to_string(first), to = std::to_string(last);
  const std::array<std::string_view, 5> question{"CLUSTER", "SLOT-STATS", "SLOTSRANGE", from, to};
  connections_.query(node, question, [this, node](const Result<resp::Value>& reply) {
    watch_.stats(node, reply, loop_.clock());
  });
}

void SlotStatsPoll::ask_totals(NodeIndex node) {
  constexpr std::array<std::string_view, 3> kQuestion = {"INFO", "stats", "cpu"};
  connections_.query(node, kQuestion, [this, node](const Result<resp::Value>& reply) {
    watch_.totals(node, reply, loop_.clock());
  });
}

}  // namespace heatsink::topology
