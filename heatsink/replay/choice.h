// SPDX-License-Identifier: Apache-2.0
// Chooses among the settings that were tried: the cheapest good one that is not at an edge.
#pragma once

#include <functional>
#include <vector>

#include "heatsink/replay/savings.h"

namespace heatsink::replay {

// Accesses that a threshold must ask for in its window. A count of ten is off by a third by mere
// chance (Poisson), and each access missed before the key's admission is a tenth of it. Settings
// below are simulated, but never recommended.
inline constexpr double kLeastEvidence = 10;
bool has_evidence(const Setting& setting);

// detection.burst for a setting: the usual part of the threshold's evidence, or 0 where that part
// is below kLeastEvidence: three accesses in a row are no burst.
double burst_part(const Setting& setting);

// A setting is good enough when it saves at least this part of the best one's saving ...
inline constexpr double kGoodEnough = 0.95;
// ... and stays so when, with every key slowed down to this part of its rate, it saves this part.
inline constexpr double kSlowdown = 0.8;
inline constexpr double kGoodWhenSlower = 0.9;

// The savings of another grid over the same trace.
using Simulate = std::function<std::vector<Saving>(const SavingsGrid&)>;

struct Candidate {
  Saving saving;
  // What it saves when every key is so much slower: simulated as a threshold that is higher by as
  // much, which is the same to the selector.
  double slower_ratio = 0;
};

struct Choice {
  Saving best;       // of the settings with evidence
  Candidate chosen;  // of them the smallest capacity, then the highest threshold, then the best
                     // window (10 s if that is as good within 2 %)
  bool is_steady = false;  // chosen.slower_ratio is good enough; else no candidate's was, and it
                           // is the one that loses least
  std::vector<Candidate> candidates;  // all good ones of the chosen capacity
};

// Calls `simulate` once. REQUIRES savings that all have evidence, at least one.
Choice choose(const std::vector<Saving>& savings, const Simulate& simulate);

// The order of capacities: copies first, then bytes.
bool is_smaller(const Capacity& a, const Capacity& b);

}  // namespace heatsink::replay
