// SPDX-License-Identifier: Apache-2.0
// The pace of a fleet by its size: how often members report, look for changes, and merge.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {

// `each` for every one of `count`, within the bounds.
inline Nanos paced(std::uint64_t count, Nanos each, Nanos least, Nanos most) {
  const auto capped = static_cast<Nanos::rep>(std::min<std::uint64_t>(count, 1U << 24));
  return std::clamp(capped * each, std::min(least, most), most);
}

// Between two reports of a member whose counts hardly change; `instances`: of the whole fleet.
inline Nanos step_of(std::uint64_t instances, Nanos interval) {
  if (instances <= kSmallFleet) return std::min(interval, kStepMax);
  return paced(instances, kStepOfEach, interval, kStepMax);
}

// Between two looks of a member for changes that matter. Members look at different times, so this
// is also the time over which the reports of one event are spread.
inline Nanos look_of(std::uint64_t instances, Nanos interval) {
  return paced(instances, kLookOfEach, interval, kLookMax);
}

// Between two merges of `sources` values while nothing is urgent, and the shortest such time.
inline Nanos refresh_of(std::uint64_t sources, Nanos interval) {
  return paced(sources, kRefreshOfEach, interval / 2, kRefreshMax);
}
inline Nanos gap_of(std::uint64_t sources, Nanos interval) {
  return paced(sources, kGapOfEach, interval / 2, kRefreshMax);
}

// Between two copies of the list of all shards to one of them.
inline Nanos copy_of(std::uint64_t shards, Nanos interval) {
  return paced(shards, kCopyOfEach, interval, kStepMax);
}

}  // namespace heatsink::fleet
