// SPDX-License-Identifier: Apache-2.0
// Everything that follows from one configuration, as an immutable value that all threads read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "heatsink/cache/cache.h"
#include "heatsink/detect/detect.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/levels.h"
#include "heatsink/policy/limits.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/replica_reads.h"
#include "heatsink/policy/rules.h"
#include "heatsink/policy/spread_policy.h"
#include "heatsink/redis/credentials.h"

namespace heatsink::copies {

// A change of the configuration makes a new one and leaves the old one as it is. So a thread that
// looks at one of them sees rules, levels and limits that belong together. Only the counts inside
// the limits change; they are thread-safe.
struct PolicySnapshot {
  // `before`: the one that it replaces; null: the first. `shared_limits`: of the fleet. REQUIRES
  // options without rule_faults().
  PolicySnapshot(const policy::ProxyOptions& options_in, redis::Credentials credentials_in,
                 const policy::KeyDisplay& shown, const PolicySnapshot* before = nullptr,
                 limit::SharedLimits* shared_limits = nullptr)
      : generation(before != nullptr ? before->generation + 1 : 1),
        options(options_in),
        credentials(std::move(credentials_in)),
        rules(
            policy::rule_set(options, [&shown](std::string_view name) { return shown.show(name); })
                .value()),
        consistency(policy::consistency_of_rules(options)),
        shortest_staleness(policy::shortest_staleness(consistency)),
        copies_for(policy::copies_of_rules(options)),
        refreshes(policy::refreshes_of_rules(options)),
        client_keeping(policy::client_keeping_of_rules(options)),
        gathering_windows(policy::gathering_windows(options)),
        spreads(policy::spreads_of_rules(options)),
        replica_reads(policy::replica_reads_of_rules(options)),
        limits(policy::Limits::make(
            options, rules, before != nullptr ? before->limits.get() : nullptr, shared_limits)) {}

  const std::uint64_t generation;  // counts up from 1, the configuration at the start
  const policy::ProxyOptions options;
  const redis::Credentials credentials;  // of the proxy's own user at the server
  const detect::RuleSet rules;
  const std::vector<cache::ConsistencyPolicy> consistency;  // by index of the rule
  const Nanos shortest_staleness;                           // of all rules
  const std::vector<policy::CopiesFor> copies_for;          // by index of the rule
  const std::vector<bool> refreshes;                        // by index of the rule
  const std::vector<bool> client_keeping;                   // by index of the rule; empty: all keys
  const std::vector<Nanos> gathering_windows;       // by index of the rule; empty: no rule gathers
  const std::vector<policy::SpreadPolicy> spreads;  // by index of the rule; empty: none spreads
  // By index of the rule; empty: no rule reads from replicas.
  const std::vector<policy::ReplicaReads> replica_reads;
  const std::shared_ptr<policy::Limits> limits;  // null: no limits

  // The index of a key's rule. For a truncated name (`is_whole` false) see RuleSet::of().
  std::size_t rule_of(std::string_view key, bool is_whole = true) const {
    return rules.index_of(rules.of(key, is_whole));
  }
  // How the key is spread over the nodes of a cluster; null: it is not.
  const policy::SpreadPolicy* spread_of(std::string_view key) const {
    if (spreads.empty() || key.size() > detect::kPatternBytesMax) return nullptr;
    const policy::SpreadPolicy& found = spreads[rule_of(key)];
    return found.is_on() && !spread::is_own_name(key) ? &found : nullptr;
  }
  // Clients that the proxy tracks for may keep the key in caches of their own.
  bool clients_may_keep(std::string_view key) const {
    return client_keeping.empty() || client_keeping[rule_of(key)];
  }
  // Some keys get copies as soon as these pay.
  bool has_paying_copies() const {
    return std::find(copies_for.begin(), copies_for.end(), policy::CopiesFor::kWhatPays) !=
           copies_for.end();
  }
};

}  // namespace heatsink::copies
