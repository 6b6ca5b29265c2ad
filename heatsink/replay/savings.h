// SPDX-License-Identifier: Apache-2.0
// What caching would have saved: the real recorder and selector over a trace, and simulated copies,
// for every combination of window, threshold and capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/replay/copy_simulator.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

// One way to configure it.
struct Setting {
  Nanos window{};
  double hot_qps = 0;  // accesses per second
  Capacity capacity;
};

struct Saving {
  Setting setting;
  CopyTally tally;
  std::uint64_t demotions = 0;
  std::uint64_t hot_peak = 0;  // hot keys at once, as far as the capacity lets them be hot
  double requests_ratio = 0;   // of all requests, 0 .. 1: what the server would not have seen
  double bytes_ratio = 0;      // of all bytes of values that were read; sizes assumed count
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
  detect::Rule rule;  // but for what the grid gives
  std::uint32_t slots = 10;
  std::size_t recorder_bytes = 2'500'000;
};

// Between 0 and 1. Called from the calling thread.
using Progress = std::function<void(double done)>;
inline constexpr std::uint64_t kAccessesPerProgress = 1 << 16;

// Of a whole trace: a longer one is judged less often.
inline constexpr std::int64_t kJudgementsMax = 20'000;

// One pass over the trace per window: its recorder serves all thresholds and capacities. Windows
// are shared out to `threads` threads; the result does not depend on their number. The selector
// judges twenty times per window. By window, then threshold, then capacity, as the grid has them.
// Memory: per thread 12 bytes per distinct key and the recorder. REQUIRES grid.size() <=
// kGridMax, thresholds that rise, capacities of at most 4096 entries.
std::vector<Saving> savings(const Trace& trace, const SavingsOptions& options, unsigned threads,
                            const Progress& progress);

// The combinations worth trying for this trace: windows that fit into it, thresholds by doubling
// from 0.01 % of its traffic on to twice the rate of its busiest key (but at least ten accesses in
// the middle window: fewer are no evidence), capacities up to 4096 entries. REQUIRES a trace with
// accesses.
SavingsGrid grid_for(const Trace& trace);

}  // namespace heatsink::replay
