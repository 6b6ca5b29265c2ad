// SPDX-License-Identifier: Apache-2.0
// Parses CLUSTER SLOT-STATS and calculates the load between two of its replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::topology {

// Since the server's start, or its last CONFIG RESETSTAT.
struct SlotCounters {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_us = 0;
  double bytes = 0;  // received and sent
};

// For people. Redis 8.6 counts memory, too, but only from its start on.
inline constexpr std::string_view kTurnSlotStatsOn =
    "CONFIG SET cluster-slot-stats-enabled yes (if the server refuses that: \"cpu net\")";

struct SlotStats {
  std::vector<SlotCounters> slots;  // by slot
  bool has_work = false;            // the server counts CPU time, not only keys
  bool has_bytes = false;           // and bytes
};

// Nothing if the reply has another form. At most 16384 slots.
std::optional<SlotStats> parse_slot_stats(const resp::Value& reply);

// Rates per second, the highest CPU time first. Leaves out slots that are in only one of the
// replies, and slots whose counters went backwards.
struct SlotLoad {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_share = 0;  // of all slots of this node
  double bytes_rate = 0;
};
std::vector<SlotLoad> load_between(const SlotStats& from, const SlotStats& to, double seconds);

}  // namespace heatsink::topology
