// SPDX-License-Identifier: Apache-2.0
// Turns options into the keys that stand on several nodes of a cluster: as copies, or in parts.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/policy/options.h"
#include "heatsink/spread/spread.h"

namespace heatsink::policy {

// At most one of both numbers is set.
struct SpreadPolicy {
  std::size_t copies = 0;
  Nanos ttl = std::chrono::seconds(1);  // the longest life of a copy
  std::size_t parts = 0;                // of a counter

  bool is_on() const { return copies > 0 || parts > 0; }
};

// One entry for each of detect::RuleSet::rules(), in that order; the first, for all other keys, is
// off. Empty if no rule spreads keys.
std::vector<SpreadPolicy> spreads_of_rules(const ProxyOptions& options);

// The fault of a rule's spread.*, and how to fix it; "": nothing.
std::string spread_fault(const ProxyOptions& options, const RuleOptions& rule);

}  // namespace heatsink::policy
