// SPDX-License-Identifier: Apache-2.0
// Decides the temperature of one key from a rule and its evidence, which it remembers so far as a
// burst shows in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/detect/rules.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::detect {

// A lower bound of a key's accesses since an earlier sighting; 0: nothing is known of it.
struct Gain {
  std::uint64_t count = 0;
  Nanos within{};
};

// Remembers the latest counts of a key, to notice a burst before it fills the window. Keeps two
// sightings; the later one becomes the earlier one when it is half a span old. So any
// frequency of calls shows the gain of at least the last half span. Counts fall only by leaving the
// window, so the difference to an upper bound is a lower bound of the gain.
class Sightings {
 public:
  // At time `at` the key had at most `high` in its window.
  void add(TimePoint at, std::uint64_t high, Nanos span) {
    if (later_ && at - later_->at < span / 2) return;
    earlier_ = later_;
    later_ = Sighting{at, high};
  }

  // The gain since the oldest sighting within `span`; if there is none, since the latest one,
  // unless that is older than `longest`. REQUIRES: call it before add().
  Gain gain(TimePoint now, std::uint64_t low, Nanos span, Nanos longest) const {
    for (const std::optional<Sighting>& sighting : {earlier_, later_})
      if (sighting && now - sighting->at <= span) return gain_since(*sighting, now, low);
    if (later_ && now - later_->at <= longest) return gain_since(*later_, now, low);
    return {};
  }

 private:
  struct Sighting {
    TimePoint at{};
    std::uint64_t high = 0;
  };
  static Gain gain_since(const Sighting& sighting, TimePoint now, std::uint64_t low) {
    return {low > sighting.high ? low - sighting.high : 0, now - sighting.at};
  }

  std::optional<Sighting> earlier_, later_;
};

// Why a key has its temperature; reason.h writes it as a sentence with the figures of that moment.
enum class Cause : std::uint8_t {
  kNone,
  kBelowWarm,      // cold: fell below warm
  kAboveWarm,      // warm
  kConfirming,     // warm: above the threshold, but not yet for confirm_windows
  kTopNFull,       // warm: above the threshold, but top-n other keys are hot
  kWaiting,        // warm: above the threshold; promotions are not due yet
  kAboveHot,       // hot
  kBurst,          // hot: so many accesses in so short a time that it will reach the threshold
  kMostlyWritten,  // write-hot
  kCooled,         // was hot or write-hot, and fell below the threshold with hysteresis
  kMostlyRead,     // was write-hot, and is now read, but not above the threshold
  kDisplaced,      // was hot; a busier key displaced it from the top-n
  kNoRoom,         // was warm or write-hot; keys_max busier keys are known
  kVanished,       // no longer in the summary
};

struct Classification {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
};

// The figures of a key in its window: rates per second, shares 0 .. 1. Heat is the rate or share
// divided by its threshold in the rule: hot from 1 on.
struct Evidence {
  bool is_listed = false;  // in its summary; if not, all but the upper bounds are 0
  double rate_low = 0, rate_high = 0;
  double share_low = 0, share_high = 0;
  double heat_low = 0, heat_high = 0;
  Thresholds threshold;  // that the rates were compared with
  std::uint64_t reads = 0, writes = 0;
  bool is_burst = false;
  Gain gain;  // set if is_burst
  // So many instances counted the deciding figures; 0: this one. Then it has seen `rate_here`.
  std::uint64_t instances = 0;
  double rate_here = 0;
};

// Evidence for a listed key, and for an unlisted one. look_for_burst() adds a burst if `gain`
// reaches `part` (SelectorOptions::burst) of the threshold; more, in proportion, if it took longer
// than `span`.
Evidence evidence_of(const Rule& rule, const Summary& window, const KeyCount& count);
Evidence evidence_of_unlisted(const Rule& rule, const Summary& window);
void look_for_burst(Evidence& evidence, const Rule& rule, const KeyCount& count, const Gain& gain,
                    Nanos span, double part);

// The evidence about a key that a fleet lists: the counts of the fleet, or those of this instance,
// where it is hotter. It is cool only if both are.
Evidence hotter_evidence(const Evidence& here, const Evidence& fleet);

// The maximum age of the sighting from which a gain is measured. With the default window a tick of
// 100 ms may be late by a quarter.
inline Nanos burst_span(const Rule& rule) { return rule.measure.window / 50; }

// The span for counts of a fleet that come every `step`. At most a tenth of the window: then
// even a key that has just begun shows such a gain only at almost twice its threshold.
inline Nanos burst_span(const Rule& rule, Nanos step) {
  return std::clamp(4 * step, burst_span(rule), rule.measure.window / 10);
}

// A member of a large fleet reads lists so seldom that the one before is often older than the span.
// The gain since then proves a burst if its mean rate is that of a burst.
inline Nanos longest_burst_span(const Rule& rule) { return rule.measure.window / 4; }

// The key's state from earlier updates.
struct Standing {
  Temperature temperature = Temperature::kCold;
  Cause cause = Cause::kNone;
  TimePoint since{};        // of the temperature
  bool above = false;       // it was above the threshold at every update ...
  TimePoint above_since{};  // ... since this one
};

// A promotion needs proof (heat_low), and so does a demotion (heat_high): the error bound never
// makes one wrong. Only a burst is hot before its proof. REQUIRES: standing.above is up to date.
Classification classify(const Rule& rule, const Standing& standing, const Evidence& evidence,
                        TimePoint at);

// The classification of a hot key that must not be promoted now: warm, with the cause `why`, if it
// has proven to be above the threshold; else as without the burst.
Classification classify_unpromoted(const Rule& rule, const Standing& standing,
                                   const Evidence& evidence, Cause why);

}  // namespace heatsink::detect
