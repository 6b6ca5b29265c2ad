// SPDX-License-Identifier: Apache-2.0
// Remembers the latest counts of a key, to notice a burst before it fills the window.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::detect {

// A lower bound of a key's accesses since an earlier sighting; 0: nothing is known of it.
struct Gain {
  std::uint64_t count = 0;
  Nanos within{};
};

// Keeps two sightings; the later one becomes the earlier one when it is half a span old. So any
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

}  // namespace heatsink::detect
