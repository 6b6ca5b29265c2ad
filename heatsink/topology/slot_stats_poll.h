// SPDX-License-Identifier: Apache-2.0
// Connects a SlotStatsWatch to the masters, on the connections of the map of slots.
#pragma once

#include <cstdint>

#include "heatsink/topology/cluster_connections.h"
#include "heatsink/topology/cluster_directory.h"
#include "heatsink/topology/slot_stats_watch.h"
#include "heatsink/topology/slot_usage.h"

namespace heatsink::topology {

// The loop's thread. Not on the trackers' connections: invalidations would wait behind its replies.
class SlotStatsPoll final : private SlotStatsWatch::Asker {
 public:
  // All outlive it, and it outlives the loop's last turn.
  SlotStatsPoll(net::EventLoop& loop, ClusterConnections& connections, ClusterDirectory& directory,
                SlotUsageBoard& board, std::uint64_t seed)
      : loop_(loop), connections_(connections), directory_(directory), watch_(*this, board, seed) {}
  SlotStatsPoll(const SlotStatsPoll&) = delete;

  // Call it at least once a second; see SlotStatsWatch::tick().
  void tick(Nanos pause) { watch_.tick(loop_.clock(), directory_.map(), pause); }

 private:
  void ask_stats(NodeIndex node, std::uint16_t first, std::uint16_t last) override;
  void ask_totals(NodeIndex node) override;

  net::EventLoop& loop_;
  ClusterConnections& connections_;
  ClusterDirectory& directory_;
  SlotStatsWatch watch_;
};

}  // namespace heatsink::topology
