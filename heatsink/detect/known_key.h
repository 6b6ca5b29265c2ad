// SPDX-License-Identifier: Apache-2.0
// Holds a key while it is classified: its state, its evidence, and its new classification.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/base/hash.h"
#include "heatsink/detect/classify.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// Kept between updates for keys that are not cold, and for cold keys while they are listed, so that
// a rule is looked up once and bursts can be seen.
struct KnownKey {
  KeyHash hash;
  const Rule* rule = nullptr;
  std::size_t measure = 0;     // of the rule
  std::size_t name_bytes = 0;  // length of the name that the rule was found with
  Sightings sightings;
  Sightings fleet_sightings;
  Standing standing;                   // as of the last update
  std::uint32_t verdict = kNoVerdict;  // its index in the verdicts of the last update

  // Valid during an update.
  bool is_listed = false;                 // in any summary
  const KeyCount* count = nullptr;        // in the summary of its measure; null: not listed
  const KeyCount* fleet_count = nullptr;  // in the fleet's window of its measure
  Evidence evidence;                      // what decides
  Evidence here;                          // of this instance alone
  Evidence fleet;                         // set if fleet_count is
  Classification next;

  static constexpr std::uint32_t kNoVerdict = UINT32_MAX;

  bool was_hot() const { return standing.temperature == Temperature::kHot; }
  bool gets_hot() const { return next.temperature == Temperature::kHot; }
  bool gets_cold() const { return next.temperature == Temperature::kCold; }
};

// The order in which keys are shown and promoted.
inline bool hotter(const KnownKey* a, const KnownKey* b) {
  const double x = a->evidence.heat_low;
  const double y = b->evidence.heat_low;
  return x != y ? x > y : a->hash.value < b->hash.value;
}

}  // namespace heatsink::detect
