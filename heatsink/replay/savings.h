// SPDX-License-Identifier: Apache-2.0
// Calculates the savings of caching for each combination of window, threshold and capacity: the
// real recorder and selector run over a trace, with simulated copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/replay/copy_simulator.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// One combination of parameters.
struct Setting {
  Nanos window{};
  double hot_qps = 0;  // accesses per second
  Capacity capacity;
};

struct Saving {
  Setting setting;
  CopyTally tally;
  std::uint64_t demotions = 0;
  std::uint64_t hot_peak = 0;  // hot keys at once, within the capacity
  double requests_ratio = 0;   // part of all requests, 0 .. 1, that the server would not have seen
  double bytes_ratio = 0;      // part of all value bytes read; assumed sizes count
};

struct SavingsGrid {
  std::vector<Nanos> windows;
  std::vector<double> hot_qps;
  std::vector<Capacity> capacities;
  std::size_t size() const { return windows.size() * hot_qps.size() * capacities.size(); }
};
inline constexpr std::size_t kGridMax = 1000;  // combinations

struct SavingsOptions {
  SavingsGrid grid;
  CopyRules rules;
  detect::Rule rule;  // the grid sets its threshold and window
  std::uint32_t slots = 10;
  std::size_t recorder_bytes = 2'500'000;
};

// `done`: 0 .. 1. Called on the calling thread.
using Progress = std::function<void(double done)>;
inline constexpr std::uint64_t kAccessesPerProgress = 1 << 16;

// Limit for a whole trace: a longer one is updated less often.
inline constexpr std::int64_t kJudgementsMax = 20'000;

// Makes one pass over the trace per window: its recorder serves all thresholds and capacities.
// `threads` threads share the windows; the result does not depend on their number. The selector
// runs twenty times per window. The result is ordered by window, then threshold, then capacity, as
// in the grid. Memory: per thread 12 bytes per distinct key and the recorder. REQUIRES grid.size()
// <= kGridMax, ascending thresholds, capacities of at most 4096 entries.
std::vector<Saving> savings(const Trace& trace, const SavingsOptions& options, unsigned threads,
                            const Progress& progress);

// Windows that fit into the trace, ascending; at least one.
std::vector<Nanos> windows_for(const Trace& trace);

// The combinations worth trying for this trace: windows that fit into it; thresholds that double
// from 0.01 % of its traffic to twice the rate of its busiest key (but at least ten accesses in the
// middle window, since fewer are no evidence); capacities up to 4096 entries. REQUIRES a trace with
// accesses.
SavingsGrid grid_for(const Trace& trace);

}  // namespace heatsink::replay
