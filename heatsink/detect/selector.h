// SPDX-License-Identifier: Apache-2.0
// Turns summaries into verdicts: which keys are hot, since when, and why.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/rules.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

struct SelectorOptions {
  RuleSet rules{};
  // At most so many hot keys, under all rules together; 0: no bound but keys_max.
  std::uint32_t top_n = 1000;
  // At most so many hot, write-hot and warm keys; the hot ones come first. At least 1.
  std::size_t keys_max = 4096;
  // Promotions are made at most this often, all that are due together; 0: each at once.
  Nanos promotion_interval{0};
  // The same for demotions, except those of keys that become write-hot.
  Nanos demotion_interval{0};
  // A key is hot before its window proves it when it holds this part of what makes it hot (hot x
  // window), and has gained most of that since a sighting window / 50 ago at most: 100 x the
  // threshold is known after window / 400. 0: never. Not under rules with confirm_windows > 1, nor
  // where that part is fewer than ten accesses.
  double burst = 0.25;
};

enum class Temperature : std::uint8_t { kCold, kWarm, kHot, kWriteHot };
const char* to_string(Temperature temperature);  // "cold", "warm", "hot", "write-hot"

// One key with its evidence. Rates are per second in the measure's unit (Summary::seconds()).
struct Verdict {
  KeyCount count;
  Temperature temperature = Temperature::kCold;
  Measure measure;                     // what was counted, over which time: its rule's
  std::string rule;                    // the name of its rule; "" is the default
  double rate = 0;                     // what is proven: rate_low
  double rate_low = 0, rate_high = 0;  // the truth lies within
  double share = 0;                    // of all traffic in the dimension, 0 .. 1: what is proven
  double heat = 0;    // how often it reaches its rule's threshold (1: just hot): for keys of
                      // different rules to be compared
  TimePoint since{};  // when it got this temperature
  // Why it got it, with the figures of that moment: "3412/s >= hot-qps 3000 (8.1 % of traffic)".
  std::string reason;
};

// A key has another temperature. Whoever caches acts on the first two kinds only; the third is for
// those who tell people.
struct Change {
  enum class Kind : std::uint8_t {
    kPromote,  // is hot now: to be cached
    kDemote,   // was hot: the copy is to go
    kNotice,   // neither was hot nor is: cold, warm, write-hot
  } kind;
  Verdict verdict;  // as it is now
  Temperature before = Temperature::kCold;
};

// Stateful, one thread; time comes with the summaries. A key is announced once, then on change.
// A verdict is never wrong by the error bound: it takes rate_low to promote and rate_high to
// demote. At most top_n keys are hot and keys_max known; the places of the hot are taken over only
// by clearly busier keys (by 1 / demote_ratio). update() is O(listed keys), without allocation for
// keys that were known, and may be called as often as one likes (docs/design/detect.md has the
// figures). The same summaries give the same changes, in the same order.
class Selector {
 public:
  explicit Selector(const SelectorOptions& options);
  ~Selector();
  Selector(Selector&&) noexcept;

  // Looks at the merged windows, one for each of rules.measures(), in that order; returns what
  // changed: those that got cold, then the others, hottest first. A key is judged by its own rule
  // on the summary of that rule's measure, and is cold if that does not list it; a hot one only
  // when absent_max proves that it fell below its threshold.
  std::vector<Change> update(std::span<const Summary> merged);
  std::vector<Change> update(const Summary& merged);  // for rules of one measure

  // Hot, write-hot and warm keys, hottest first, as of the last update.
  const std::vector<Verdict>& verdicts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::detect
