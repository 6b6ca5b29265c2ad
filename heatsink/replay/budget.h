// SPDX-License-Identifier: Apache-2.0
// Recommends how much room local copies get, with the reasons.
#pragma once

#include <vector>

#include "heatsink/replay/earned_copies.h"
#include "heatsink/replay/recommend.h"

namespace heatsink::replay {

struct Budget {
  bool caching = false;  // false: no capacity tried spares the server kWorthwhileRatio
  // The smallest capacity whose net saving is at least kGoodEnough (choice.h) of the best one's.
  EarnedSaving chosen;
  EarnedSaving best;
  Bytes cache_bytes{};  // cache.maximum-bytes: the tried limit, or room for twice the peak
  std::vector<Reason> reasons;
};

// REQUIRES at least one saving.
Budget recommend_budget(const std::vector<EarnedSaving>& savings);

}  // namespace heatsink::replay
