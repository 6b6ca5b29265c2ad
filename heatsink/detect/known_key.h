// SPDX-License-Identifier: Apache-2.0
// A key that is being judged: its earlier verdict, its evidence, and its new verdict.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/base/hash.h"
#include "heatsink/detect/classify.h"
#include "heatsink/detect/sightings.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// Kept from one update to the next for keys that are not cold, and for cold ones as long as they
// are listed: so a rule is looked for once, and a burst is seen.
struct KnownKey {
  KeyHash hash;
  const Rule* rule = nullptr;
  std::size_t measure = 0;     // the rule's
  std::size_t name_bytes = 0;  // how much of the name the rule was found by
  Sightings sightings;
  Standing standing;                   // as of the last update
  std::uint32_t verdict = kNoVerdict;  // its place among the verdicts of the last update

  // Of this update.
  bool is_listed = false;           // in some summary
  const KeyCount* count = nullptr;  // in the summary of its measure; null: not there
  Evidence evidence;
  Classification next;

  static constexpr std::uint32_t kNoVerdict = UINT32_MAX;

  bool was_hot() const { return standing.temperature == Temperature::kHot; }
  bool gets_hot() const { return next.temperature == Temperature::kHot; }
  bool gets_cold() const { return next.temperature == Temperature::kCold; }
};

// The order in which keys are shown and get places.
inline bool hotter(const KnownKey* a, const KnownKey* b) {
  const double x = a->evidence.heat_low;
  const double y = b->evidence.heat_low;
  return x != y ? x > y : a->hash.value < b->hash.value;
}

}  // namespace heatsink::detect
