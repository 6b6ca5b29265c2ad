// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/levels.h"

#include <algorithm>
#include <array>

#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

using cache::ConsistencyPolicy;
using cache::Level;

ConsistencyPolicy consistency_of(const ProxyOptions& options, const RuleOptions& rule) {
  return {rule.level.value_or(options.level), rule.max_staleness.value_or(options.max_staleness),
          rule.stale_while_error.value_or(Nanos(0)),
          !rule.limit_rate.empty() && rule.limit_over == LimitOver::kStale};
}

}  // namespace

const char* to_string(Level level) {
  constexpr std::array<const char*, 4> kNames = {"off", "ttl", "key", "session"};
  return kNames.at(static_cast<std::size_t>(level));
}

std::vector<ConsistencyPolicy> consistency_of_rules(const ProxyOptions& options) {
  std::vector<ConsistencyPolicy> consistency{consistency_of(options, RuleOptions{})};
  for (const RuleOptions& rule : options.rules)
    consistency.push_back(consistency_of(options, rule));
  return consistency;
}

std::vector<CopiesFor> copies_of_rules(const ProxyOptions& options) {
  const auto of = [&options](const RuleOptions& rule) {
    const Admission admission = rule.admission.value_or(options.admission);
    const bool is_off =
        rule.level.value_or(options.level) == Level::kOff || admission == Admission::kOff;
    if (!options.cache_enabled || is_off) return CopiesFor::kNone;
    return admission == Admission::kHot ? CopiesFor::kHotKeys : CopiesFor::kWhatPays;
  };
  std::vector<CopiesFor> copies{of(RuleOptions{})};
  for (const RuleOptions& rule : options.rules) copies.push_back(of(rule));
  return copies;
}

std::vector<Nanos> gathering_windows(const ProxyOptions& options) {
  std::vector<Nanos> windows{Nanos(0)};
  for (const RuleOptions& rule : options.rules) windows.push_back(rule.coalesce.value_or(Nanos(0)));
  const bool any =
      std::any_of(windows.begin(), windows.end(), [](Nanos window) { return window > Nanos(0); });
  return any ? windows : std::vector<Nanos>{};
}

Nanos longest_staleness(std::span<const ConsistencyPolicy> consistency) {
  Nanos longest = consistency.front().max_staleness;
  for (const ConsistencyPolicy& each : consistency) longest = std::max(longest, each.max_staleness);
  return longest;
}

Nanos shortest_staleness(std::span<const ConsistencyPolicy> consistency) {
  Nanos shortest = longest_staleness(consistency);
  for (const ConsistencyPolicy& each : consistency) {
    const bool is_proven = each.level == Level::kKey || each.level == Level::kSession;
    if (is_proven) shortest = std::min(shortest, each.max_staleness);
  }
  return shortest;
}

Nanos epoch_interval(std::span<const ConsistencyPolicy> consistency) {
  for (const ConsistencyPolicy& each : consistency) {
    if (each.level == Level::kSession) return Nanos(0);
  }
  return cache::epoch_interval(shortest_staleness(consistency));
}

std::vector<bool> refreshes_of_rules(const ProxyOptions& options) {
  std::vector<bool> refreshes{options.refresh_enabled};
  const Refresh of_all = options.refresh_enabled ? Refresh::kOn : Refresh::kOff;
  for (const RuleOptions& rule : options.rules)
    refreshes.push_back(rule.refresh.value_or(of_all) == Refresh::kOn);
  return refreshes;
}

std::vector<bool> client_keeping_of_rules(const ProxyOptions& options) {
  std::vector<bool> keeps{true};
  for (const RuleOptions& rule : options.rules)
    keeps.push_back(rule.client_tracking.value_or(ClientTracking::kPays) == ClientTracking::kPays);
  const bool all = std::find(keeps.begin(), keeps.end(), false) == keeps.end();
  return all ? std::vector<bool>{} : keeps;
}

std::string tracking_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (rule.client_tracking.value_or(ClientTracking::kOff) == ClientTracking::kOff) return "";
  if (options.client_tracking == ClientTracking::kOff)
    return "client-tracking: pays needs proxy.client-tracking: pays, but that is off, "
           "so the server sends all invalidations: write proxy.client-tracking: pays, "
           "and client-tracking: off in the rules whose keys clients must not keep";
  const bool has_copies = rule.level.value_or(options.level) != Level::kOff &&
                          rule.admission.value_or(options.admission) != Admission::kOff;
  if (has_copies) return "";
  return "client-tracking: pays has no effect on keys without local copies (level: off or "
         "admission: off): remove it, or allow copies";
}

std::string outage_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (!rule.stale_while_error) return "";
  const ConsistencyPolicy consistency = consistency_of(options, rule);
  if (consistency.level != Level::kKey) {
    return std::string("stale-while-error needs level key, but this rule has level ") +
           to_string(consistency.level) + ": remove it, or write level: key";
  }
  if (consistency.stale_while_error > consistency.max_staleness) return "";
  return "stale-while-error is " + format_duration(consistency.stale_while_error) +
         ", but copies are served for max-staleness (" +
         format_duration(consistency.max_staleness) + ") anyway: write a longer time, or remove it";
}

std::string staleness_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (!rule.max_staleness) return "";
  const Level level = consistency_of(options, rule).level;
  if (level == Level::kOff || level == Level::kTtl) {
    return std::string("max-staleness has no effect at level ") + to_string(level) +
           ": remove it, or write level: key";
  }
  // A copy is served while the last proof is younger than max-staleness, and each heartbeat brings
  // one.
  const Nanos least = 2 * options.heartbeat_interval;
  if (*rule.max_staleness >= least) return "";
  return "max-staleness is " + format_duration(*rule.max_staleness) +
         ", but must be at least twice cache.heartbeat-interval "
         "(otherwise one lost heartbeat would stop local reads): use " +
         format_duration(least) + " .. " +
         format_duration(Nanos(static_cast<std::int64_t>(kStalenessMax))) +
         ", or shorten cache.heartbeat-interval";
}

}  // namespace heatsink::policy
