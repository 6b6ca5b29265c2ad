// SPDX-License-Identifier: Apache-2.0
// Says which rules read hot keys from replicas, and how old what a replica has may be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// Where reads of a rule's hot keys go.
struct ReplicaReads {
  using From = ReadsFrom;
  From from = From::kMaster;
  // A replica answers only if it is proven to have all that the master had this long ago.
  Nanos lag = std::chrono::seconds(1);
};

// One entry for each of detect::RuleSet::rules(), in that order. Empty: no rule reads from
// replicas.
std::vector<ReplicaReads> replica_reads_of_rules(const ProxyOptions& options);

// The shortest lag of these; 0: none reads from replicas.
Nanos shortest_lag(const std::vector<ReplicaReads>& rules);

// The fault of a rule's reads and replica-lag, and how to fix it; "": nothing.
std::string replica_fault(const ProxyOptions& options, const RuleOptions& rule);

}  // namespace heatsink::policy
