// SPDX-License-Identifier: Apache-2.0
// The summary of a few numbers. For tests.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

inline stats::Summary summary_of(const std::vector<std::int64_t>& values) {
  stats::Summary summary;
  for (const std::int64_t value : values) summary.add(value);
  return summary;
}

}  // namespace heatsink::distributed
