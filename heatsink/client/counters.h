// SPDX-License-Identifier: Apache-2.0
// Counts what the parts of one Core do, since the Core was made.
#pragma once

#include <atomic>
#include <cstdint>

namespace heatsink::client {

// Each part adds to its own counters; Statistics reads all. Any thread; no order between counters.
// The meanings are those of Counts (stats.h).
struct Counters {
  std::atomic<std::uint64_t> promotions{0}, demotions{0}, loads{0}, load_failures{0}, waits{0},
      refusals{0}, refreshes{0}, refresh_failures{0}, refresh_drops{0}, stale_served{0},
      invalidations{0}, flushes{0}, own_commands{0}, misses{0}, source_loads{0};
};

inline void count(std::atomic<std::uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heatsink::client
