// SPDX-License-Identifier: Apache-2.0
// Remembers the latest counts of a key, so that a burst is seen before it fills the window.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::detect {

// How much a key surely gained since an earlier sighting; 0: nothing is known of it.
struct Gain {
  std::uint64_t count = 0;
  Nanos within{};
};

// Two sightings: the later one becomes the earlier one when it is half a span old. So what a key
// gained in the last half span, at least, is seen however often one looks. Counts only fall by
// leaving the window, so the difference to an upper bound is a lower bound of the gain.
class Sightings {
 public:
  // The key had at most `high` in its window at `at`.
  void add(TimePoint at, std::uint64_t high, Nanos span) {
    if (later_ && at - later_->at < span / 2) return;
    earlier_ = later_;
    later_ = Sighting{at, high};
  }

  // Since the earliest sighting that is at most `span` old. REQUIRES: add() comes after this.
  Gain gain(TimePoint now, std::uint64_t low, Nanos span) const {
    for (const std::optional<Sighting>& sighting : {earlier_, later_}) {
      if (!sighting || now - sighting->at > span) continue;
      return {low > sighting->high ? low - sighting->high : 0, now - sighting->at};
    }
    return {};
  }

 private:
  struct Sighting {
    TimePoint at{};
    std::uint64_t high = 0;
  };
  std::optional<Sighting> earlier_, later_;
};

}  // namespace heatsink::detect
