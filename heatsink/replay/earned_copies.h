// SPDX-License-Identifier: Apache-2.0
// What local copies save when they go to the keys for which they pay (cache.admission: pays).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/replay/copy_simulator.h"
#include "heatsink/replay/savings.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// The work of copies in a part of the trace.
struct EarnedSpan {
  std::uint64_t requests = 0, hits = 0, fills = 0;
};

struct EarnedSaving {
  Capacity capacity;
  std::uint64_t hits = 0;
  std::uint64_t hit_bytes = 0;  // sizes of the values
  std::uint64_t fills = 0;
  std::uint64_t ended = 0;  // copies that a write ended
  std::uint64_t evictions = 0;
  std::uint64_t copies_peak = 0;
  std::uint64_t bytes_peak = 0;  // with kCopyOverheadBytes each
  double hit_ratio = 0;          // hits, as a part of all requests
  // requests_ratio less the commands of fills: the commands that the server is spared. May be
  // negative.
  double net_ratio = 0;
  // net_ratio less the server's CPU time for fills and ends (admit::costs_of): the figure by which
  // the proxy chooses, as a part of all requests. May be negative.
  double server_ratio = 0;
  // CPU time per request, in microseconds, by the prices of admit/cost_model.h: what the server is
  // spared, and what the proxy takes for its fills and ends, less what it takes for reads that it
  // does not send on. May be negative.
  double server_us_spared = 0, proxy_us_spent = 0;
  admit::Costs costs{};    // at the end of the trace
  double bytes_ratio = 0;  // of all value bytes read; assumed sizes count
  // The trace by its time, kSpan each: how soon copies save. At most kSpansMax; the rest is left
  // out.
  std::vector<EarnedSpan> spans;
  static constexpr Nanos kSpan = std::chrono::seconds(2);
  static constexpr std::size_t kSpansMax = 10'000;
};

// Plays the whole trace for each capacity, with the product's own choice (heatsink/admit) and a
// table of copies without values. Fills take no time and never fail. `threads` share the
// capacities; the result does not depend on their number. Memory per thread: 32 bytes per key, and
// 3 MB. O(1) per access. REQUIRES capacities of at most kEarnedCopiesMax entries.
inline constexpr std::size_t kEarnedCopiesMax = 1'000'000;
std::vector<EarnedSaving> earned_savings(const Trace& trace,
                                         const std::vector<Capacity>& capacities,
                                         const CopyRules& rules, unsigned threads,
                                         const Progress& progress);

// Tried where nobody names capacities: 1000, 4096, 16 384 and 65 536 copies, as far as the trace
// has keys for them.
std::vector<Capacity> budgets_for(const Trace& trace);

}  // namespace heatsink::replay
