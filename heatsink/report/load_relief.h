// SPDX-License-Identifier: Apache-2.0
// How much of a key's load, or of all keys' load, copies and other reliefs have taken off.
#pragma once

#include <cstdint>

#include "heatsink/detect/summary.h"

namespace heatsink::report {

// Over the window of detection, as /api/hotkeys shows it at the same moment.
struct LoadRelief {
  std::uint64_t hits = 0, misses = 0;  // reads; those that waited for a fill are misses
  double hit_ratio = 0;                // of the reads, 0 .. 1
  // Accesses for which the servers got no command, less the fills, of all accesses. At most 1;
  // negative if the fills cost more than they spare.
  double offload = 0;
};

// The relief of a key. `spared`: as KeyReport::spared.
LoadRelief relief_of(const detect::KeyCount& count, std::int64_t spared);
// The relief of all keys, which `all` counts.
LoadRelief relief_of_all(const detect::Summary& all, double offload);

}  // namespace heatsink::report
