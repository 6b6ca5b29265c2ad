// SPDX-License-Identifier: Apache-2.0
// Defines what is counted and over which time: the scale of heat.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/detect/access.h"

namespace heatsink::detect {

// kMisses are reads that the server had to answer.
enum class Dimension : std::uint8_t { kRequests, kBytes, kWrites, kMisses };
const char* to_string(Dimension dimension);  // "requests", "bytes", "writes", "misses"

// Measures in use at once; each costs a record() and its part of the memory.
inline constexpr std::size_t kMeasuresMax = 4;

struct Measure {
  Nanos window = std::chrono::seconds(10);
  Dimension dimension = Dimension::kRequests;
  friend bool operator==(const Measure&, const Measure&) = default;
};

// A count in a window that follows the traffic: `least`, or this part (0 .. 1) of the count of all
// keys together if that is more.
struct CountLevel {
  // A plain number is a level, too.
  constexpr CountLevel(std::uint64_t at_least = 0, double part_of_all = 0)
      : least(at_least), part(part_of_all) {}

  std::uint64_t of(std::uint64_t all) const {
    if (part <= 0) return least;
    return std::max(least, static_cast<std::uint64_t>(part * static_cast<double>(all)));
  }

  std::uint64_t least;
  double part;
  friend bool operator==(const CountLevel&, const CountLevel&) = default;
};

// The number that this access adds in the dimension; may be 0.
inline std::uint32_t weight_of(const Access& access, Dimension dimension) {
  switch (dimension) {
    case Dimension::kBytes:
      return access.bytes;
    case Dimension::kWrites:
      return access.kind == AccessKind::kWrite ? 1 : 0;
    case Dimension::kMisses:
      return access.kind == AccessKind::kRead && !access.local_hit ? 1 : 0;
    case Dimension::kRequests:
      break;
  }
  return 1;
}

}  // namespace heatsink::detect
