// SPDX-License-Identifier: Apache-2.0
// From options to rules: what a rule does not say is as detection.* says.
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

// What is counted for all keys, or for those of `rule`. REQUIRES a dimension that the rows allow.
detect::Measure measure_of(const ProxyOptions& options);
detect::Measure measure_of(const ProxyOptions& options, const RuleOptions& rule);

// What no row of a rule can know by itself, with what to do about it.
struct RuleFault {
  std::size_t rule;  // its place in options.rules
  std::string sentence;
};
std::vector<RuleFault> rule_faults(const ProxyOptions& options);

// The rules as the selector takes them; one for a single key is called what `shown` makes of the
// key (empty: its name). An error only if there are rule_faults().
using ShownName = std::function<std::string(std::string_view)>;
Result<detect::RuleSet> rule_set(const ProxyOptions& options, const ShownName& shown = {});
detect::SelectorOptions selector_options(const ProxyOptions& options, const detect::RuleSet& rules);

// What one of `workers` shards counts, for each of rules.measures(): a key becomes urgent with its
// shard's part of what makes it hot, or of the beginning of a burst.
std::vector<detect::MeasureOptions> measure_options(const ProxyOptions& options,
                                                    const detect::RuleSet& rules);
// What a shard need not tell: keys with less cannot be warm in all.
std::vector<std::uint64_t> shard_floors(const ProxyOptions& options, const detect::RuleSet& rules);

// "no key reaches 3000/s (detection.hot-qps) or the threshold of its rule (2 rules)": what it means
// that nothing is hot.
std::string quiet_sentence(const ProxyOptions& options);
// "what has at least 3000/s (detection.hot-qps) or what its rule says (2 rules)"
std::string hot_definition(const ProxyOptions& options);

}  // namespace heatsink::policy
