// SPDX-License-Identifier: Apache-2.0
// The rule for one key: which temperature its evidence gives it, and why. No state of its own.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/detect/selector.h"

namespace heatsink::detect {

// What made a key what it is; sentence() says it with the figures of that moment.
enum class Cause : std::uint8_t {
  kNone,
  kBelowWarm,      // cold: never was more
  kAboveWarm,      // warm
  kConfirming,     // warm: above hot-qps, but not yet for confirm-windows
  kTopNFull,       // warm: above hot-qps, but enough others are busier
  kAboveHot,       // hot
  kMostlyWritten,  // write-hot
  kCooled,         // was hot or write-hot, and fell below the hysteresis
  kMostlyRead,     // was write-hot, and is now read, but not above hot-qps
  kDisplaced,      // was hot; a busier key took its place among the top-n
  kVanished,       // no longer in the summary
};

struct Judgement {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
};

// What is known of the key from the updates before.
struct Standing {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
  TimePoint since{};        // of the temperature
  bool above = false;       // its rate was >= hot-qps at every update ...
  TimePoint above_since{};  // ... since this one
};

// `verdict` carries the evidence: count and rates. A promotion needs proof (rate_low), and a
// demotion too (rate_high): neither is ever wrong by the error bound. REQUIRES: standing.above is
// up to date.
Judgement judge(const SelectorOptions& options, const Standing& standing, const Verdict& verdict,
                TimePoint at, Nanos window);

// "3412/s >= hot-qps 3000 (8.1 % of traffic)"
std::string sentence(Cause cause, const SelectorOptions& options, const Verdict& verdict);

}  // namespace heatsink::detect
