// SPDX-License-Identifier: Apache-2.0
// Compares two configurations option by option and rule by rule, and says which differences a
// running proxy can take.
#pragma once

#include <string>
#include <vector>

#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"

namespace heatsink::policy {

// One difference. Values are text as in the configuration, without secrets.
struct OptionChange {
  enum class Kind { kSet, kAdded, kRemoved } kind = Kind::kSet;  // the last two: rules, warmings
  std::string name;           // "cache.level", "rule cart:*", "warming 2"
  std::string before, after;  // "key" and "off"; of a rule all that it sets: "level=off,window=1s"
  bool needs_restart = false;

  friend bool operator==(const OptionChange&, const OptionChange&) = default;
};

// In the order of the option rows, then of the rules and warmings. A rule is known by its match: of
// several with the same match, the first is compared with the first, and so on. Rules that only
// change their order are one difference, named "rules". `shown` as for rule_set(). Another password
// of upstream.url is a change that needs no restart; anything else there does. Pure.
std::vector<OptionChange> difference(const ProxyOptions& before, const ProxyOptions& after,
                                     const ShownName& shown = {});

// "cache.level: key -> off", "rule cart:* added: level=off", "admin.token changed"; with
// needs_restart "proxy.workers: 2 -> 4 (needs a restart)".
std::string change_text(const OptionChange& change);

// `wanted`, with the values of `running` for all that needs a restart.
ProxyOptions without_restarts(const ProxyOptions& running, const ProxyOptions& wanted);

// The values of a rule in the form of --rule: "match=cart:*,level=off". OptionList::add_item()
// reads it back.
std::string rule_text(const RuleOptions& rule);
// The rule as an item of `rules:` in a file: {match: "cart:*", level: "off"}
std::string rule_line(const RuleOptions& rule);
// How people see the rule: its match, and that of a single key as `shown` says.
std::string rule_label(const RuleOptions& rule, const ShownName& shown);

}  // namespace heatsink::policy
