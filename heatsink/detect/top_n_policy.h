// SPDX-License-Identifier: Apache-2.0
// Caps the hot keys at top-n, and limits how fast the set of hot keys changes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/known_key.h"
#include "heatsink/detect/selector_options.h"

namespace heatsink::detect {

// A key that is hot keeps its place unless its residence is over and a newcomer is clearly busier,
// so that two equals do not push each other out for ever, and nobody who makes many keys hot takes
// the places of others. Not thread-safe. O(keys); sorts only if somebody wants in.
class TopNPolicy {
 public:
  explicit TopNPolicy(const SelectorOptions& options);

  // Changes the judgements that there is no place for, or that are not due.
  void apply(std::vector<KnownKey>& keys, TimePoint at);

  std::size_t hot_max() const { return hot_max_; }

 private:
  using Keys = std::vector<KnownKey*>;

  void hold_demotions(std::vector<KnownKey>& keys) const;
  void promote(Keys& newcomers, Keys& holders, TimePoint at, bool may_displace) const;

  std::size_t hot_max_;
  Nanos promotion_interval_;
  Nanos demotion_interval_;
  std::optional<TimePoint> promoted_at_, demoted_at_;  // when some were, last
};

}  // namespace heatsink::detect
