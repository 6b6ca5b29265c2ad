// SPDX-License-Identifier: Apache-2.0
// Chooses the cheapest good setting of those tried, but none at the edge of being good.
#pragma once

#include <functional>
#include <vector>

#include "heatsink/replay/savings.h"

namespace heatsink::replay {

// The least accesses that a threshold must ask for in its window. Chance alone changes a count of
// ten by a third (Poisson), and each access before the key's admission is a tenth of it. Settings
// with fewer are simulated, but never recommended.
inline constexpr double kLeastEvidence = 10;
bool has_evidence(const Setting& setting);

// detection.burst for a setting: the usual part of the threshold's evidence, or 0 if that is below
// kLeastEvidence (three accesses in a row are no burst).
double burst_part(const Setting& setting);

// A setting is good if it saves at least this part of the best one's saving.
inline constexpr double kGoodEnough = 0.95;
// It must also save this part if each key is slowed down to this part of its rate.
inline constexpr double kSlowdown = 0.8;
inline constexpr double kGoodWhenSlower = 0.9;

// Calculates the savings of another grid over the same trace.
using Simulate = std::function<std::vector<Saving>(const SavingsGrid&)>;

struct Candidate {
  Saving saving;
  // The saving when each key is slowed down by kSlowdown. Simulated with a threshold that is higher
  // by the same factor, which the selector cannot distinguish.
  double slower_ratio = 0;
};

struct Choice {
  Saving best;       // of the settings with enough evidence
  Candidate chosen;  // of them the smallest capacity, then the highest threshold, then the best
                     // window (10 s if that is as good within 2 %)
  bool is_steady = false;  // chosen.slower_ratio is good enough; else no candidate's was, and it
                           // is the one that loses least
  std::vector<Candidate> candidates;  // all good ones of the chosen capacity
};

// Calls `simulate` once. REQUIRES at least one saving, all with enough evidence.
Choice choose(const std::vector<Saving>& savings, const Simulate& simulate);

// The order of capacities: copies first, then bytes.
bool is_smaller(const Capacity& a, const Capacity& b);

}  // namespace heatsink::replay
