// SPDX-License-Identifier: Apache-2.0
// From options to the limits of each rule's keys: how often, of what, whose, and what then.
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
  enum class Of : std::uint8_t { kUpstream, kAll, kWrites };
  enum class Per : std::uint8_t { kKey, kClient, kPrefix };
  enum class Over : std::uint8_t { kReject, kDelay, kStale };

  limit::LimiterOptions limiter;  // with the patience of kDelay
  Of of = Of::kUpstream;
  Per per = Per::kKey;
  Over over = Over::kReject;
  Nanos stale_max{0};  // of kStale
};

// At the places that the rules have in detect::RuleSet::rules(): that for all keys first, which has
// none. REQUIRES options without limit_fault().
std::vector<std::optional<LimitPolicy>> limits_of_rules(const ProxyOptions& options);

// What limits.automatic-qps gives a key: so many per second of what goes to the server, and as many
// at once. REQUIRES that it is not off.
LimitPolicy automatic_limit(const ProxyOptions& options);

// "5000/s per key, of what goes to the server; over it: reject"
std::string limit_text(const LimitPolicy& policy);

// What a rule's limit cannot mean, with what to do about it; "": nothing. Likewise for
// limits.automatic-qps.
std::string limit_fault(const ProxyOptions& options, const RuleOptions& rule);
std::string automatic_fault(const ProxyOptions& options);

}  // namespace heatsink::policy
