// SPDX-License-Identifier: Apache-2.0
// Turns options into consistency policies: one for each rule, where unset values come from cache.*.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// As in the configuration: "off", "ttl", "key", "session".
const char* to_string(cache::Level level);

// One entry for each of detect::RuleSet::rules(), in that order; the first is for all other keys.
std::vector<cache::ConsistencyPolicy> consistency_of_rules(const ProxyOptions& options);

// Which keys get copies.
enum class CopiesFor : std::uint8_t { kNone, kHotKeys, kWhatPays };
// In the same order as above. A rule at level off has none.
std::vector<CopiesFor> copies_of_rules(const ProxyOptions& options);

// In the same order: whether copies that are read are renewed before they expire.
std::vector<bool> refreshes_of_rules(const ProxyOptions& options);

// In the same order: whether clients that the proxy tracks for may keep the rule's keys. Empty:
// they may keep all.
std::vector<bool> client_keeping_of_rules(const ProxyOptions& options);

// In the same order: how long writes of a rule's keys are gathered; 0: they are not gathered. Empty
// if no rule gathers writes.
std::vector<Nanos> gathering_windows(const ProxyOptions& options);

// The longest max-staleness. After this much silence of the tracker no copy may be served. REQUIRES
// consistency_of_rules().
Nanos longest_staleness(std::span<const cache::ConsistencyPolicy> consistency);

// The shortest max-staleness of the keys whose copies need proofs. REQUIRES consistency_of_rules().
Nanos shortest_staleness(std::span<const cache::ConsistencyPolicy> consistency);

// cache::epoch_interval() of the shortest max-staleness. 0: as often as possible, because local
// reads of level session wait for the answer. REQUIRES consistency_of_rules().
Nanos epoch_interval(std::span<const cache::ConsistencyPolicy> consistency);

// The fault of a rule's level and max-staleness, and how to fix it; "": nothing.
std::string staleness_fault(const ProxyOptions& options, const RuleOptions& rule);
std::string outage_fault(const ProxyOptions& options,
                         const RuleOptions& rule);  // the same for stale-while-error
std::string tracking_fault(const ProxyOptions& options,
                           const RuleOptions& rule);  // for client-tracking

}  // namespace heatsink::policy
