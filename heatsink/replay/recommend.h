// SPDX-License-Identifier: Apache-2.0
// Recommends a threshold, a capacity and a window, with the reasons, from the savings.
#pragma once

#include <string>
#include <vector>

#include "heatsink/replay/choice.h"
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

}  // namespace heatsink::replay
