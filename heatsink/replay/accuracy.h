// SPDX-License-Identifier: Apache-2.0
// Measures the detector's accuracy on a trace: compares the real recorder and selector with exact
// counts.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/replay/savings.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

struct AccuracyOptions {
  detect::Rule rule;  // for all keys; accesses are counted, whatever the dimension of its measure
  double burst = detect::SelectorOptions{}.burst;
  std::uint32_t slots = 10;
  std::size_t recorder_bytes = 2'500'000;
  Nanos tick = Millis(100);  // interval of the selector's updates; urgent keys cause further ones
};

// Hot keys (including write-hot ones) at one moment.
struct HotMoment {
  std::int64_t at_ns = 0;
  std::uint32_t named = 0;  // by the detector
  std::uint32_t truly = 0;  // with the threshold's accesses in the window, by exact counts
  double threshold = 0;     // accesses per second, at this moment
};

// A key that was ever hot. Times are of the replay, from 0.
struct HotLife {
  std::uint32_t key = 0;
  std::uint32_t periods = 0;      // how often it became hot or write-hot
  std::int64_t first_ns = 0;      // when it first did
  std::int64_t hot_ns = 0;        // total time as hot
  double rate_max = 0;            // accesses per second, proven
  std::int64_t write_hot_ns = 0;  // of hot_ns, according to the verdicts
};

struct Accuracy {
  static constexpr std::size_t kTop = 100;
  static constexpr std::size_t kMomentsMax = 600;
  static constexpr std::size_t kKeysMax = 4096;  // verdicts at once

  std::size_t memory_bytes = 0;     // of the recorder
  Nanos urgent_gap{};               // minimum time between updates for urgent keys
  std::uint64_t judgements = 0;     // updates at ticks, where windows are compared
  std::uint64_t named = 0;          // hot keys named by the detector, summed over the updates ...
  std::uint64_t named_truly = 0;    // ... of these, those whose exact count reaches the threshold
  std::uint64_t proven = 0;         // of named, those whose window proves it (low bound) ...
  std::uint64_t proven_truly = 0;   // ... and whose exact count agrees
  std::uint64_t truly = 0;          // all keys whose exact count reaches the threshold
  std::uint64_t unproven = 0;       // of truly - named_truly: the bounds reached the threshold, but
                                    // not their low, which alone is proof
  std::uint64_t top_asked = 0;      // keys among the kTop busiest named, summed over the slots ...
  std::uint64_t top_right = 0;      // ... that are among the truly busiest
  double rate_error_sum = 0;        // |rate - truth| / truth, of these
  std::uint64_t bounds_broken = 0;  // of these, keys whose true count lay outside [low, high]
  std::vector<std::int64_t> detection_ns;  // from the access that filled the window to
                                           // the verdict, 0 if that came sooner; rising
  std::uint64_t missed = 0;                // became hot, and cold again, without a verdict
  std::vector<HotMoment> moments;          // at most kMomentsMax, evenly
  std::vector<HotLife> lives;              // longest hot first

  // By windows: of the keys whose window proves that they are hot, 1 if there is none.
  double precision() const;
  // By windows: of the keys that are hot by exact counts, 1 if there is none.
  double recall() const;
  // Part of the named keys with fewer accesses in the window than the threshold asks for, 0 .. 1:
  // they are still hot (hysteresis, residence), or already (bursts).
  double lasting_part() const;
  double top_precision() const;
  double rate_error() const;
};

// One pass; O(1) per access, and per tick O(hot keys + the recorder's table). At most 10 000
// updates, and 5000 more for urgent keys: a longer trace is judged less often than every tick or
// 1 ms. Memory: ExactWindow's and the recorder's.
Accuracy accuracy(const Trace& trace, const AccuracyOptions& options, const Progress& progress);

// The value that a share `q` (0 .. 1) of the sorted values does not exceed; 0 for no values.
std::int64_t quantile(const std::vector<std::int64_t>& sorted, double q);

}  // namespace heatsink::replay
