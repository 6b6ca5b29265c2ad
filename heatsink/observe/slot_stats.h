// SPDX-License-Identifier: Apache-2.0
// Reads CLUSTER SLOT-STATS, and calculates what happened between two of its answers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::observe {

// Since the server's start, or its last CONFIG RESETSTAT.
struct SlotCounters {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_us = 0;
  double bytes = 0;  // in and out
};

struct SlotStats {
  std::vector<SlotCounters> slots;  // by slot
  bool has_work = false;            // it counts CPU time and bytes, not keys alone
};

// Nothing if it is no such answer. At most 16384 slots.
std::optional<SlotStats> parse_slot_stats(const resp::Value& reply);

// Per second, busiest by CPU time first. Slots that are only in one of the two are left out, and
// those that went backwards.
struct SlotLoad {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_share = 0;  // of all slots of this node
  double bytes_rate = 0;
};
std::vector<SlotLoad> load_between(const SlotStats& from, const SlotStats& to, double seconds);

}  // namespace heatsink::observe
