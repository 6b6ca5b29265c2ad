// SPDX-License-Identifier: Apache-2.0
// Recommends a threshold, a capacity and a window, with the reasons, from the savings.
#pragma once

#include <string>
#include <vector>

#include "heatsink/replay/choice.h"
#include "heatsink/replay/savings.h"

namespace heatsink::replay {

// Under this share of the requests caching is not worth its memory and its copies.
inline constexpr double kWorthwhileRatio = 0.01;

struct Reason {
  std::string question;  // "Which threshold?"
  std::string answer;    // "20 requests/s"
  std::string why;       // one sentence with the figures
};

struct Recommendation {
  bool caching = false;     // false: leave it off
  Saving chosen;            // if not caching: with a threshold that stays silent
  Saving best;              // of the settings with evidence; if none has any, of all
  double slower_ratio = 0;  // what the chosen one saves when all keys are slower (kSlowdown)
  Bytes cache_bytes{};      // cache.maximum-bytes that leaves room for twice the peak
  std::vector<Reason> reasons;
};

// See choice.h for how it chooses. Calls `simulate` at most once. REQUIRES all savings of one grid,
// at least one.
Recommendation recommend(const std::vector<Saving>& savings, const Simulate& simulate);

}  // namespace heatsink::replay
