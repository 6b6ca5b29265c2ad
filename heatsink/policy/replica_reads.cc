// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/replica_reads.h"

#include <algorithm>

#include "heatsink/net/address.h"
#include "heatsink/policy/levels.h"

namespace heatsink::policy {
namespace {

ReplicaReads replica_reads_of(const RuleOptions& rule) {
  return {rule.reads, rule.replica_lag.value_or(ReplicaReads().lag)};
}

}  // namespace

std::vector<ReplicaReads> replica_reads_of_rules(const ProxyOptions& options) {
  std::vector<ReplicaReads> out{ReplicaReads{}};
  bool any = false;
  for (const RuleOptions& rule : options.rules) {
    out.push_back(replica_reads_of(rule));
    any |= out.back().from != ReplicaReads::From::kMaster;
  }
  return any ? out : std::vector<ReplicaReads>{};
}

Nanos shortest_lag(const std::vector<ReplicaReads>& rules) {
  Nanos shortest{0};
  for (const ReplicaReads& each : rules) {
    if (each.from == ReplicaReads::From::kMaster) continue;
    shortest = shortest == Nanos(0) ? each.lag : std::min(shortest, each.lag);
  }
  return shortest;
}

std::string replica_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (rule.reads == ReadsFrom::kMaster) {
    if (!rule.replica_lag) return "";
    return "replica-lag is " + format_duration(*rule.replica_lag) +
           ", but this rule reads from the master: write reads: replicas, or remove it";
  }
  const std::string reads = "reads: " + std::string(to_string(rule.reads));
  const cache::Level level = rule.level.value_or(options.level);
  if (level != cache::Level::kTtl && level != cache::Level::kOff)
    return reads + " does not keep the promises of level " + to_string(level) +
           ", which this rule has: write level: off or level: ttl, or remove reads";
  if (!options.detection_enabled)
    return reads +
           " is for hot keys only, and detection.enabled is false: set it to true, or remove reads";
  const Result<net::RedisUrl> upstream = net::parse_upstream_url(options.upstream);
  if (upstream.ok() && !upstream->unix_path.empty())
    return reads + " needs a server with replicas that the proxy can reach, but upstream.url is " +
           upstream->where() + ": write redis://host:port, or remove reads";
  return "";
}

}  // namespace heatsink::policy
