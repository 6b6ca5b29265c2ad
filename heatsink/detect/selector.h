// SPDX-License-Identifier: Apache-2.0
// Turns summaries into verdicts: which keys are hot, since when, and why.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

struct SelectorOptions {
  // Rates are counts in the window / its configured length: nothing is extrapolated after a start,
  // a key is hot once the window holds hot_qps * window accesses of it.
  double hot_qps = 3000;  // rate_low >= this
  double warm_qps = 500;
  // At most so many hot keys; 0: no bound but keys_max.
  std::uint32_t top_n = 1000;
  // Window lengths above hot_qps without a gap before a promotion, the first counted (1: at once).
  std::uint32_t confirm_windows = 1;
  // Hysteresis: hot until rate_high falls below hot_qps * this.
  double demote_ratio = 0.8;
  // A hot key stays at least so long, unless it becomes write-hot.
  Nanos minimum_residence = std::chrono::seconds(10);
  // Fewer reads than this per write: write-hot, caching would be a loss.
  double write_hot_ratio = 10;
  std::size_t keys_max = 4096;
};

enum class Temperature : std::uint8_t { kCold, kWarm, kHot, kWriteHot };
const char* to_string(Temperature temperature);  // "cold", "warm", "hot", "write-hot"

// One key with its evidence. Rates are accesses per second over the window.
struct Verdict {
  KeyCount count;
  Temperature temperature = Temperature::kCold;
  double rate = 0;                     // what is proven: rate_low
  double rate_low = 0, rate_high = 0;  // the truth lies within
  double share = 0;                    // of all accesses in the window, 0 .. 1
  TimePoint since{};                   // when it got this temperature
  // Why it got it, with the figures of that moment: "3412/s >= hot-qps 3000 (8.1 % of traffic)".
  std::string reason;
};

struct Change {
  enum class Kind : std::uint8_t { kPromote, kDemote } kind;
  Verdict verdict;
};

// Stateful, one thread; time comes with the summary. A key is announced once, then on change.
// A verdict is never wrong by the error bound: it takes rate_low to promote and rate_high to
// demote. At most top_n keys are hot and keys_max known; the places of the hot are taken over only
// by clearly busier keys (by 1 / demote_ratio). update() is O(keys), and may be called as often as
// one likes.
class Selector {
 public:
  explicit Selector(const SelectorOptions& options);
  ~Selector();

  // Looks at the merged window; returns what changed. Only kHot keys are promoted (to be cached);
  // hot -> write-hot, warm or cold is a demotion.
  std::vector<Change> update(const Summary& merged);

  // Hot, write-hot and warm keys, busiest first, as of the last update.
  const std::vector<Verdict>& verdicts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::detect
