// SPDX-License-Identifier: Apache-2.0
// Decides the temperature of one key from a rule and its evidence. No state of its own.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/detect/rules.h"
#include "heatsink/detect/sightings.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::detect {

// What made a key what it is; reason.h says it with the figures of that moment.
enum class Cause : std::uint8_t {
  kNone,
  kBelowWarm,      // cold: fell below warm
  kAboveWarm,      // warm
  kConfirming,     // warm: above the threshold, but not yet for confirm_windows
  kTopNFull,       // warm: above the threshold, but others have the places
  kWaiting,        // warm: above the threshold; promotions are not due yet
  kAboveHot,       // hot
  kBurst,          // hot: got so much in so short a time that it will be
  kMostlyWritten,  // write-hot
  kCooled,         // was hot or write-hot, and fell below the hysteresis
  kMostlyRead,     // was write-hot, and is now read, but not above the threshold
  kDisplaced,      // was hot; a busier key took its place among the top-n
  kNoRoom,         // was warm or write-hot; others are busier, and keys_max are known
  kVanished,       // no longer in the summary
};

struct Classification {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
};

// The figures of a key in its window. Rates per second, shares 0 .. 1; heat: how often the
// thresholds of its rule are reached, 1 and above is hot.
struct Evidence {
  bool is_listed = false;  // in its summary; if not, only the upper bounds are more than 0
  double rate_low = 0, rate_high = 0;
  double share_low = 0, share_high = 0;
  double heat_low = 0, heat_high = 0;
  std::uint64_t reads = 0, writes = 0;
  bool is_burst = false;
  Gain gain;  // set if is_burst
};

// `seen` of the key in `window`; a burst if `sightings` and `part` (SelectorOptions::burst) say so.
Evidence evidence_of(const Rule& rule, const Summary& window, const KeyCount& count);
Evidence evidence_of_unlisted(const Rule& rule, const Summary& window);
void look_for_burst(Evidence& evidence, const Rule& rule, const KeyCount& count, const Gain& gain,
                    double part);

// How old the sighting may be that a gain is measured from. A tick of 100 ms that comes late by a
// quarter is early enough for the default window.
inline Nanos burst_span(const Rule& rule) { return rule.measure.window / 50; }

// What is known of the key from the updates before.
struct Standing {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
  TimePoint since{};        // of the temperature
  bool above = false;       // it was above the threshold at every update ...
  TimePoint above_since{};  // ... since this one
};

// A promotion needs proof (heat_low), and a demotion too (heat_high): neither is ever wrong by the
// error bound. Only a burst goes ahead of its proof. REQUIRES: standing.above is up to date.
Classification classify(const Rule& rule, const Standing& standing, const Evidence& evidence,
                        TimePoint at);

// What a key is that was judged hot but must not be promoted now: warm, by `why` if it has proven
// to be above the threshold; as if there had been no burst otherwise.
Classification classify_unpromoted(const Rule& rule, const Standing& standing,
                                   const Evidence& evidence, Cause why);

}  // namespace heatsink::detect
