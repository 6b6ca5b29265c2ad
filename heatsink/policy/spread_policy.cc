// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/spread_policy.h"

#include <algorithm>

#include "heatsink/policy/levels.h"

namespace heatsink::policy {
namespace {

SpreadPolicy spread_policy_of(const RuleOptions& rule) {
  SpreadPolicy policy;
  policy.copies = static_cast<std::size_t>(rule.spread_copies.value_or(0));
  policy.ttl = rule.spread_ttl.value_or(policy.ttl);
  policy.parts = static_cast<std::size_t>(rule.spread_parts.value_or(0));
  return policy;
}

}  // namespace

std::vector<SpreadPolicy> spreads_of_rules(const ProxyOptions& options) {
  std::vector<SpreadPolicy> spreads{SpreadPolicy{}};
  for (const RuleOptions& rule : options.rules) spreads.push_back(spread_policy_of(rule));
  const bool any = std::ranges::any_of(spreads, [](const auto& each) { return each.is_on(); });
  return any ? spreads : std::vector<SpreadPolicy>{};
}

std::string spread_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (!spread_policy_of(rule).is_on()) {
    return rule.spread_ttl ? "spread.ttl is the life of copies, but the rule has none: "
                             "write spread.copies, or remove spread.ttl"
                           : "";
  }
  if (rule.spread_copies && rule.spread_parts)
    return "spread.copies is for keys that are read, spread.parts for counters, "
           "and a rule can have only one of them: remove one";
  if (rule.spread_parts && rule.spread_ttl)
    return "spread.ttl is the life of copies, but parts of a counter have none: remove spread.ttl";
  const cache::Level level = rule.level.value_or(options.level);
  if (level != cache::Level::kOff)
    return std::string(rule.spread_parts ? "the proxy makes no local copies of a counter in parts"
                                         : "copies on nodes promise less than local ones") +
           ", but this rule has level " + to_string(level) + ": write level: off";
  if (rule.reads != ReadsFrom::kMaster)
    return "reads: " + std::string(to_string(rule.reads)) +
           " is for keys without copies on other nodes: write reads: master, or remove spread.*";
  if (rule.coalesce.value_or(Nanos(0)) > Nanos(0))
    return "coalesce gathers writes of one key, but spread.* needs each of them by itself: "
           "remove coalesce, or spread.*";
  return "";
}

}  // namespace heatsink::policy
