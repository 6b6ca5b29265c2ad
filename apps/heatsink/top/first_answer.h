// SPDX-License-Identifier: Apache-2.0
// How long the first answer of an observation is waited for, and what is said when none came.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// A person at the screen would rather see what is known, a script wants what is good: it gives the
// sources time. Not thread-safe.
class FirstAnswer {
 public:
  // Of a server that cannot be reached; it may be just restarting.
  static constexpr Nanos kAwayFor = std::chrono::seconds(2);
  static constexpr Nanos kDetailsWithin = std::chrono::seconds(3);

  // `within` 0: nothing is waited for.
  FirstAnswer(TimePoint started_at, Nanos within) : started_at_(started_at), within_(within) {}

  // Whether to look again later: all sources are only starting, and neither has the time passed nor
  // has there been trouble with each of them for kAwayFor without a break. REQUIRES a `now` that
  // never goes back.
  bool waits(std::span<const observe::Observation> seen, TimePoint now);

  // Whether to look again later for this key: a scan may still come to it, within the time; or
  // `rows` has rows of it, and what the server tells of the value is not known of each, for
  // kDetailsWithin at most (a server may forbid it).
  bool waits_for(const observe::Observation& rows, const observe::CloserKey& key, TimePoint now);

  // Why `seen` is no answer, as a sentence with what is missing and, for a script, for how long;
  // nothing: it is one, be it that no key is hot.
  std::optional<std::string> missing(const observe::Observation& seen, TimePoint now) const;

 private:
  TimePoint started_at_;
  Nanos within_;
  std::optional<TimePoint> away_since_;
  std::optional<TimePoint> details_since_;  // they were first waited for
};

}  // namespace heatsink::app
