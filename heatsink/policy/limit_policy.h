// SPDX-License-Identifier: Apache-2.0
// Turns options into limits: what a limit counts, for whom, and what happens above it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/limit/limit.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

struct LimitPolicy {
  using Of = LimitOf;
  using Per = LimitPer;
  using Over = LimitOver;
  using Scope = LimitScope;

  limit::LimiterOptions limiter;  // includes how long kDelay may wait
  Of of = Of::kUpstream;
  Per per = Per::kKey;
  Over over = Over::kReject;
  Scope scope = Scope::kProxy;
  Nanos stale_max{0};  // with kStale: maximum age of a copy
};

// One entry for each of detect::RuleSet::rules(), in that order. The first, for all other keys, has
// no limit. REQUIRES options without limit_fault().
std::vector<std::optional<LimitPolicy>> limits_of_rules(const ProxyOptions& options);

// The limit of one key under limits.automatic-qps: that many commands per second to the server,
// with a burst of the same number. REQUIRES that limits.automatic-qps is on.
LimitPolicy automatic_limit(const ProxyOptions& options);

// "5000/s per key, counting commands that go to the server; over it: reject"
std::string limit_text(const LimitPolicy& policy);

// The fault of a rule's limit, and how to fix it; "": nothing.
std::string limit_fault(const ProxyOptions& options, const RuleOptions& rule);
// The fault of fleet.*.
std::string fleet_fault(const ProxyOptions& options);
// The fault of limits.automatic-qps.
std::string automatic_fault(const ProxyOptions& options);

}  // namespace heatsink::policy
