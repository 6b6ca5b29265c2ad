// SPDX-License-Identifier: Apache-2.0
// Defines a verdict: how hot a key is, with its evidence and the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

enum class Temperature : std::uint8_t { kCold, kWarm, kHot, kWriteHot };
const char* to_string(Temperature temperature);  // "cold", "warm", "hot", "write-hot"

// The counts of a key by all instances of a fleet, in the measure's unit per second.
struct FleetEvidence {
  double rate_low = 0, rate_high = 0;
  double share = 0;                     // the proven part of the fleet's traffic
  std::uint64_t instances = 0;          // how many have counted
  std::uint64_t reads = 0, writes = 0;  // in the window
};

// One key with its evidence. Rates are per second in the measure's unit (Summary::seconds()).
struct Verdict {
  KeyCount count;
  Temperature temperature = Temperature::kCold;
  Measure measure;                     // the measure of its rule: what was counted, over which time
  std::string rule;                    // the name of its rule; "": the default
  double rate = 0;                     // the proven rate: rate_low
  double rate_low = 0, rate_high = 0;  // the bounds of the true rate
  double share = 0;                    // the proven part of all traffic in the dimension, 0 .. 1
  double heat = 0;  // how often it reaches its rule's threshold (1: just hot), here or in the
                    // fleet: for keys of different rules to be compared
  std::optional<FleetEvidence> fleet{};  // nothing: the fleet does not list it
  TimePoint since{};                     // when it got this temperature
  // The reason, with the figures of that moment (Selector::reason_now() has those of now): "3412/s
  // >= hot-qps 3000 (8.1 % of traffic)".
  std::string reason;
};

// A change of a key's temperature. Caches act only on the first two kinds; the third is for
// reports.
struct Change {
  enum class Kind : std::uint8_t {
    kPromote,  // is hot now: cache it
    kDemote,   // was hot: drop the copy
    kNotice,   // neither was nor is hot: cold, warm, write-hot
  } kind;
  Verdict verdict;  // the new one
  Temperature before = Temperature::kCold;
};

}  // namespace heatsink::detect
