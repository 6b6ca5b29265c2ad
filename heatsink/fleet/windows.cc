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
    if (const detect::Summary* const counts = list.window_of(measure))
      window = {.counts = *counts, .instances = list.instances, .step = list.step};
  }
  return windows;
}

detect::CountLevel matters_by(const detect::RuleSet& rules, double burst,
                              const detect::Measure& measure, std::uint64_t instances) {
  const auto measures = rules.measures();
  const auto found = std::find(measures.begin(), measures.end(), measure);
  if (found == measures.end()) return detect::CountLevel(UINT64_MAX);
  const auto index = static_cast<std::size_t>(found - measures.begin());
  return rules.shard_counts(index, burst, static_cast<std::size_t>(instances)).urgent_count;
}

std::uint64_t rounded_instances(std::uint64_t instances) {
  return std::bit_ceil(std::clamp<std::uint64_t>(instances, 1, 256));
}

}  // namespace heatsink::fleet
