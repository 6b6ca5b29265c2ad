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

// A hot key stays hot unless its residence is over and a newcomer is clearly busier. So two equal
// keys do not displace each other for ever, and a client that makes many keys hot cannot displace
// the others. Not thread-safe. O(keys); sorts only if there are newcomers.
class TopNPolicy {
 public:
  explicit TopNPolicy(const SelectorOptions& options);

  // Changes the classifications that exceed top-n or are not due yet.
  void apply(std::vector<KnownKey>& keys, TimePoint at);

  // From now on. The intervals go on from the latest promotion and demotion.
  void reconfigure(const SelectorOptions& options);

  std::size_t hot_max() const { return hot_max_; }

 private:
  using Keys = std::vector<KnownKey*>;

  void end_excess(Keys& holders) const;
  void hold_demotions(std::vector<KnownKey>& keys) const;
  void promote(Keys& newcomers, Keys& holders, TimePoint at, bool may_displace) const;

  std::size_t hot_max_ = 0;
  Nanos promotion_interval_{0};
  Nanos demotion_interval_{0};
  std::optional<TimePoint> promoted_at_, demoted_at_;  // time of the latest one
};

}  // namespace heatsink::detect
