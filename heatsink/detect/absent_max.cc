// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/absent_max.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace heatsink::detect {

std::optional<double> absent_max(const Summary& node, const std::vector<Verdict>& shown) {
  const double seconds = node.seconds();
  if (node.dimension != Dimension::kRequests || seconds <= 0) return std::nullopt;
  std::set<std::uint64_t> listed;
  for (const Verdict& verdict : shown) listed.insert(verdict.count.hash.value);
  std::uint64_t most = node.absent_max;
  for (const KeyCount& key : node.keys) {
    if (!listed.contains(key.hash.value)) most = std::max(most, key.high);
  }
  return static_cast<double>(most) / seconds;
}

}  // namespace heatsink::detect
