// SPDX-License-Identifier: Apache-2.0
// The limits of what instances of a fleet write, read and believe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::fleet {

// Of one report: the busiest keys of the instance. It also tells what it knows of the keys of the
// list, so at most kReportKeys + kListKeys.
inline constexpr std::size_t kReportKeys = 50;
inline constexpr std::size_t kListKeys = 100;            // of the merged list
inline constexpr std::size_t kReportBytesMax = 1 << 16;  // longer values are cut, and refused
inline constexpr std::size_t kListBytesMax = 1 << 18;
inline constexpr std::size_t kInstancesMax = 4096;  // of one shard that its merger reads
inline constexpr std::size_t kShardsMax = 1024;
inline constexpr std::size_t kIdBytesMax = 64;
inline constexpr std::size_t kNameBytesMax = 64;
// No instance counts more per second; a report with more is refused. In bytes per second for
// detection.dimension: bytes.
inline constexpr double kAccessesPerSecondMax = 1e8;
inline constexpr double kBytesPerSecondMax = 1e12;

// The rule of the pace: so many reports per second of one shard, at most. Above 125 instances at
// 250 ms the step grows with their number: 500 instances report every second, 1000 every two.
inline constexpr double kReportsPerSecond = 500;
// In fleets of up to so many the list is read twice per step: that costs the server little, and a
// key is found earlier.
inline constexpr std::uint64_t kEagerInstances = 64;
inline constexpr Nanos kStepMax = std::chrono::seconds(60);

}  // namespace heatsink::fleet
