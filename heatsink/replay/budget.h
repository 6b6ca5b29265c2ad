// SPDX-License-Identifier: Apache-2.0
// Recommends how much room local copies get, with the reasons.
#pragma once

#include <vector>

#include "heatsink/replay/earned_copies.h"
#include "heatsink/replay/recommend.h"

namespace heatsink::replay {

struct Budget {
  bool caching = false;  // false: no capacity tried spares the server enough
  // The smallest capacity that is enough (admit::right_size) by the server's CPU time, as in the
  // proxy's own advice.
  EarnedSaving chosen;
  EarnedSaving best;
  Bytes cache_bytes{};  // cache.maximum-bytes: the tried limit, or room for twice the peak
  std::vector<Reason> reasons;
};

// REQUIRES at least one saving.
Budget recommend_budget(const std::vector<EarnedSaving>& savings);

}  // namespace heatsink::replay
