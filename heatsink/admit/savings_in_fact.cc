// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/savings_in_fact.h"

#include <algorithm>
#include <chrono>

namespace heatsink::admit {
namespace {

constexpr double kKeptOfFacts = 0.8;
constexpr double kReadsToKnow = 2000;
constexpr double kLoses = 0.005;       // or less: to count all reads for it costs more
constexpr double kDoubted = 2;         // times the estimate
constexpr double kDoubtKept = 0.9942;  // per call: half of it after 120

// As long as copies live, and the time for which the tally remembers.
int calls_to_lose(Nanos life) {
  constexpr std::chrono::seconds kShortest(5), kLongest(60), kRemembered(5);
  const auto lived = std::chrono::ceil<std::chrono::seconds>(life);
  return static_cast<int>((std::clamp(lived, kShortest, kLongest) + kRemembered).count());
}

}  // namespace

SavingsInFact::SavingsInFact(Nanos life) : losing_max_(calls_to_lose(life)) {}

void SavingsInFact::note(const Miniature::Counts& counts, const Costs& costs) {
  tally_.add(counts, kKeptOfFacts);
  doubt_ *= kDoubtKept;
  if (tally_.reads < kReadsToKnow) return;
  if (tally_.saved(costs) > kLoses) {
    losing_for_ = 0;
  } else if (counts.fills > 0) {
    ++losing_for_;
  }
}

double SavingsInFact::saved(const Costs& costs) const {
  return tally_.reads < kReadsToKnow ? 0 : tally_.saved(costs);
}

void SavingsInFact::begin() {
  losing_for_ = 0;
  tally_ = {};
}

void SavingsInFact::give_up(double estimate) {
  doubt_ = std::max(doubt_, kDoubted * estimate);
  begin();
}

}  // namespace heatsink::admit
