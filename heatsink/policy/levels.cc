// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/levels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

using cache::ConsistencyPolicy;
using cache::Level;

constexpr std::array<std::pair<Level, const char*>, 4> kNames = {{{Level::kOff, "off"},
                                                                  {Level::kTtl, "ttl"},
                                                                  {Level::kKey, "key"},
                                                                  {Level::kSession, "session"}}};

// REQUIRES a `name` that the option row accepts.
Level level_of(const std::string& name) {
  for (const auto& [level, its_name] : kNames) {
    if (name == its_name) return level;
  }
  return Level::kKey;
}

ConsistencyPolicy consistency_of(const ProxyOptions& options, const RuleOptions& rule) {
  return {level_of(rule.level == kInherit ? options.level : rule.level),
          rule.max_staleness.value_or(options.max_staleness),
          rule.stale_while_error.value_or(Nanos(0)),
          !rule.limit_rate.empty() && rule.limit_over == "stale"};
}

}  // namespace

const char* to_string(Level level) {
  for (const auto& [known, name] : kNames) {
    if (known == level) return name;
  }
  return "";
}

std::vector<ConsistencyPolicy> consistency_of_rules(const ProxyOptions& options) {
  std::vector<ConsistencyPolicy> consistency{consistency_of(options, RuleOptions{})};
  for (const RuleOptions& rule : options.rules)
    consistency.push_back(consistency_of(options, rule));
  return consistency;
}

std::vector<CopiesFor> copies_of_rules(const ProxyOptions& options) {
  const auto of = [&options](const RuleOptions& rule) {
    const std::string& admission = rule.admission == kInherit ? options.admission : rule.admission;
    const bool is_off = consistency_of(options, rule).level == Level::kOff || admission == "off";
    if (!options.cache_enabled || is_off) return CopiesFor::kNone;
    return admission == "hot" ? CopiesFor::kHotKeys : CopiesFor::kWhatPays;
  };
  std::vector<CopiesFor> copies{of(RuleOptions{})};
  for (const RuleOptions& rule : options.rules) copies.push_back(of(rule));
  return copies;
}

std::vector<Nanos> coalescing_windows(const ProxyOptions& options) {
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
  for (const RuleOptions& rule : options.rules)
    refreshes.push_back(rule.refresh == kInherit ? options.refresh_enabled : rule.refresh == "on");
  return refreshes;
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
         ", but must be at least twice cache.heartbeat-interval (otherwise one lost heartbeat "
         "would stop local reads): use " +
         format_duration(least) + " .. " +
         format_duration(Nanos(static_cast<std::int64_t>(kStalenessMax))) +
         ", or shorten cache.heartbeat-interval";
}

}  // namespace heatsink::policy
