// SPDX-License-Identifier: Apache-2.0
// Defines what is counted and over which time: the scale of heat.
#pragma once

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

// What this access adds in the dimension; may be 0.
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
