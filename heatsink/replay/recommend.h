// SPDX-License-Identifier: Apache-2.0
// Recommends a threshold, a capacity, a window and how much room copies get, with the reasons, from
// the savings.
#pragma once

#include <string>
#include <vector>

#include "heatsink/replay/choice.h"
#include "heatsink/replay/earned_copies.h"
#include "heatsink/replay/savings.h"

namespace heatsink::replay {

// Below this share of the requests caching is not worth its memory.
inline constexpr double kWorthwhileRatio = 0.01;

struct Reason {
  std::string question;  // "Which threshold?"
  std::string answer;    // "20 requests/s"
  std::string why;       // one sentence with the figures
};

struct Recommendation {
  bool caching = false;     // false: leave caching off
  Saving chosen;            // without caching: a setting whose threshold never fires
  Saving best;              // of the settings with enough evidence, or of all if none has it
  double slower_ratio = 0;  // the chosen one's saving if all keys are slower (kSlowdown)
  Bytes cache_bytes{};      // cache.maximum-bytes with room for twice the peak
  std::vector<Reason> reasons;
};

// For the rules see choice.h. Calls `simulate` at most once. REQUIRES all savings of one grid, at
// least one.
Recommendation recommend(const std::vector<Saving>& savings, const Simulate& simulate);

// How much room local copies get.
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
