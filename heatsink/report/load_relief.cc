// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/load_relief.h"

#include <algorithm>

namespace heatsink::report {
namespace {

LoadRelief relief_of_reads(std::uint64_t reads, std::uint64_t hits) {
  LoadRelief relief{.hits = hits, .misses = reads - std::min(reads, hits)};
  if (reads > 0)
    relief.hit_ratio = static_cast<double>(std::min(reads, hits)) / static_cast<double>(reads);
  return relief;
}

}  // namespace

LoadRelief relief_of(const detect::KeyCount& count, std::int64_t spared) {
  LoadRelief relief = relief_of_reads(count.reads, count.hits);
  const std::uint64_t accesses = count.reads + count.writes;
  if (accesses > 0)
    relief.offload = std::min(1.0, static_cast<double>(spared) / static_cast<double>(accesses));
  return relief;
}

LoadRelief relief_of_all(const detect::Summary& all, double offload) {
  LoadRelief relief = relief_of_reads(all.reads, all.hits);
  relief.offload = offload;
  return relief;
}

}  // namespace heatsink::report
