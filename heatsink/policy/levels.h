// SPDX-License-Identifier: Apache-2.0
// From options to what is promised of the copies of each rule's keys: what a rule does not say is
// as cache.* has it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

const char* to_string(cache::Level level);  // as it is written: "off", "ttl", "key", "session"

// At the places that the rules have in detect::RuleSet::rules(): that for all keys first.
std::vector<cache::ConsistencyPolicy> consistency_of_rules(const ProxyOptions& options);

// At the same places: whether copies that are read are renewed ahead of time.
std::vector<bool> refreshes_of_rules(const ProxyOptions& options);

// How long writes of a rule's keys are gathered, at the same places: 0 where they are not. Empty if
// no rule gathers.
std::vector<Nanos> coalescing_windows(const ProxyOptions& options);

// A tracker that is silent for longer serves nobody. REQUIRES consistency_of_rules().
Nanos longest_staleness(std::span<const cache::ConsistencyPolicy> consistency);

// What a rule's level and max-staleness cannot mean, with what to do about it; "": nothing.
std::string staleness_fault(const ProxyOptions& options, const RuleOptions& rule);
std::string outage_fault(const ProxyOptions& options,
                         const RuleOptions& rule);  // stale-while-error

}  // namespace heatsink::policy
