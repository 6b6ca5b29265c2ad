// SPDX-License-Identifier: Apache-2.0
// Turns options into detection rules, where unset values come from detection.*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

#include "heatsink/detect/detect.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// The measure for all keys, or for the keys of `rule`. REQUIRES a dimension that the option
// rows accept.
detect::Measure measure_of(const ProxyOptions& options);
detect::Measure measure_of(const ProxyOptions& options, const RuleOptions& rule);

// Mistakes in a rule that no single option row can detect, each with its fix.
struct RuleFault {
  std::size_t rule;  // its index in options.rules
  std::string sentence;
};
std::vector<RuleFault> rule_faults(const ProxyOptions& options);

// The rules in the selector's form. A rule for a single key is named by `shown` of that key; an
// empty `shown` keeps the key's name. Fails only if there are rule_faults().
using ShownName = std::function<std::string(std::string_view)>;
Result<detect::RuleSet> rule_set(const ProxyOptions& options, const ShownName& shown = {});
detect::SelectorOptions selector_options(const ProxyOptions& options, const detect::RuleSet& rules);

// The measures that each of `workers` shards counts, one entry for each of rules.measures(). A key
// is urgent once one shard has seen its part of a threshold, or of the beginning of a burst.
// `instances`: how many proxies add up their counts.
std::vector<detect::MeasureOptions> measure_options(const ProxyOptions& options,
                                                    const detect::RuleSet& rules,
                                                    std::uint64_t instances = 1);
// Counts that a shard may leave out: keys below them cannot be warm, even in all shards together.
std::vector<detect::CountLevel> shard_floors(const ProxyOptions& options,
                                             const detect::RuleSet& rules,
                                             std::uint64_t instances = 1);

// The meaning of "no key is hot": "no key reaches 3000/s (detection.hot-qps) or the threshold of
// its rule (2 rules)".
std::string quiet_sentence(const ProxyOptions& options);
// "at least 3000/s (detection.hot-qps) or the threshold of its rule (2 rules)"
std::string hot_definition(const ProxyOptions& options);

}  // namespace heatsink::policy
