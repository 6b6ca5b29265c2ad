// SPDX-License-Identifier: Apache-2.0
// How hot a key is, with its evidence and the reason, and how that has changed.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

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

}  // namespace heatsink::detect
