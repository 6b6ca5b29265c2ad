// SPDX-License-Identifier: Apache-2.0
// The limits of what instances of a fleet write, read and believe, and their pace by its size: how
// often they report, look for changes, and merge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::fleet {

// The busiest keys of the instance in one report. A report also has the counts of the keys of the
// list, so it has at most kReportKeys + kListKeys.
inline constexpr std::size_t kReportKeys = 50;
inline constexpr std::size_t kListKeys = 100;            // of the merged list
inline constexpr std::size_t kReportBytesMax = 1 << 16;  // longer values are cut, and refused
inline constexpr std::size_t kListBytesMax = 1 << 18;
inline constexpr std::size_t kInstancesMax = 4096;  // of one shard that its merger reads
inline constexpr std::size_t kMergeBatch = 64;      // values that a merger reads at a time
inline constexpr std::size_t kShardsMax = 1024;
inline constexpr std::size_t kIdBytesMax = 64;
inline constexpr std::size_t kNameBytesMax = 64;
// No instance counts more per second; a report with more is refused. In bytes per second for
// detection.dimension: bytes.
inline constexpr double kAccessesPerSecondMax = 1e8;
inline constexpr double kBytesPerSecondMax = 1e12;

// The rule of the pace (docs/decisions/0069): while nothing changes, the whole fleet makes
// 62 reports per second, or each member one per minute if that is more. A small fleet makes one per
// interval and member.
inline constexpr Nanos kStepOfEach = Millis(16);
inline constexpr std::uint64_t kSmallFleet = 20;
inline constexpr Nanos kStepMax = std::chrono::seconds(60);
// An event makes 2000 urgent reports per second, or all of them in 2.5 s if that is more.
inline constexpr Nanos kLookOfEach = Nanos(500'000);
inline constexpr Nanos kLookMax = Millis(2500);
// A member has so many urgent reports at once, and gets one back per step.
inline constexpr int kUrgentAtOnce = 4;
// After an urgent report a member reads the list up to so many times without waiting for its step.
inline constexpr int kReadsAfterUrgent = 3;
// A merge of 1000 reports costs the server about 10 ms: 0.2 % of a core, and during an event 2 %.
inline constexpr Nanos kRefreshOfEach = Millis(5);
inline constexpr Nanos kCopyOfEach = Nanos(12'500'000);
inline constexpr Nanos kGapOfEach = Nanos(500'000);
inline constexpr Nanos kRefreshMax = std::chrono::seconds(10);

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
