// SPDX-License-Identifier: Apache-2.0
// Which threshold, which capacity, which window: answered from the savings, with the reasons.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/replay/savings.h"

namespace heatsink::replay {

// Under this share of the requests caching is not worth its memory and its copies.
inline constexpr double kWorthwhileRatio = 0.01;
// A setting is good enough when it saves at least this part of the best one's saving.
inline constexpr double kGoodEnough = 0.95;

struct Reason {
  std::string question;  // "Which threshold?"
  std::string answer;    // "20 requests/s"
  std::string why;       // one sentence with the figures
};

struct Recommendation {
  bool caching = false;  // false: leave it off
  Saving chosen;         // if not caching: with a threshold that stays silent
  Saving best;           // of all that were tried
  Bytes cache_bytes{};   // cache.maximum-bytes that leaves room for twice the peak
  std::vector<Reason> reasons;
};

// The cheapest setting that is good enough: the smallest capacity, then the highest threshold, then
// of the windows the best one. REQUIRES all savings of one grid, at least one.
Recommendation recommend(const std::vector<Saving>& savings);

}  // namespace heatsink::replay
