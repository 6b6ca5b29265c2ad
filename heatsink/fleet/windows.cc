// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/windows.h"

#include <algorithm>
#include <bit>

namespace heatsink::fleet {

std::vector<detect::FleetWindow> windows_of(const Message& list,
                                            std::span<const detect::Measure> measures) {
  std::vector<detect::FleetWindow> windows;
  windows.reserve(measures.size());
  for (const detect::Measure& measure : measures) {
    detect::FleetWindow& window = windows.emplace_back();
    for (const detect::Summary& counts : list.windows) {
      if (detect::Measure{counts.window, counts.dimension} != measure) continue;
      window = {.counts = counts, .instances = list.instances, .step = list.step};
    }
  }
  return windows;
}

std::uint64_t rounded_instances(std::uint64_t instances) {
  return std::bit_ceil(std::clamp<std::uint64_t>(instances, 1, 256));
}

}  // namespace heatsink::fleet
