// SPDX-License-Identifier: Apache-2.0
// Decides how long to wait for the first answer of an observation, and explains why none came.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {

// A user at the screen wants to see what is known so far; a script wants good data, so it waits for
// the sources. Not thread-safe.
class FirstAnswer {
 public:
  // How long an unreachable server is given: it may be just restarting.
  static constexpr Nanos kAwayFor = std::chrono::seconds(2);
  static constexpr Nanos kDetailsWithin = std::chrono::seconds(3);

  // `within` 0: does not wait.
  FirstAnswer(TimePoint started_at, Nanos within) : started_at_(started_at), within_(within) {}

  // Whether to look again later: all sources are still starting or, with `for_verdict`, have not
  // decided yet whether a key is hot; the time has not passed, and not all of them have had trouble
  // for kAwayFor without a break. REQUIRES a `now` that never goes back.
  bool waits(std::span<const observe::Observation> seen, TimePoint now, bool for_verdict);

  // Whether to look again later for this key: a scan may still reach it within the time; more
  // samples may decide within the time whether it is hot (is_undecided()); or `rows`
  // has rows of it whose values are not all known yet, for at most kDetailsWithin (a server may
  // forbid the question).
  bool waits_for(const observe::Observation& rows, const observe::CloserKey& key, TimePoint now);

  // Whether the key may be hot, though that is not proven.
  static bool is_undecided(const observe::Observation& rows, const observe::CloserKey& key);

  // Why `seen` is no answer: a sentence with what is missing and, for a script, for how long;
  // nothing: it is one, even if no key is hot.
  std::optional<std::string> missing(const observe::Observation& seen, TimePoint now) const;

 private:
  TimePoint started_at_;
  Nanos within_;
  std::optional<TimePoint> away_since_;
  std::optional<TimePoint> details_since_;  // start of the wait for details
};

}  // namespace heatsink::app
