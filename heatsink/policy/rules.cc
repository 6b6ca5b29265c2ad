// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "heatsink/policy/levels.h"
#include "heatsink/policy/limit_policy.h"
#include "heatsink/policy/replica_reads.h"
#include "heatsink/policy/spread_policy.h"

namespace heatsink::policy {
namespace {

using detect::Dimension;
using detect::Measure;

double per_second(Bytes bytes) { return static_cast<double>(bytes.count); }

// Per second, in the dimension's unit; nothing: automatic.
struct WantedThresholds {
  std::optional<double> hot, warm;
};

// A rule that changes the hot threshold only gets a warm one that fits.
WantedThresholds wanted_thresholds(const ProxyOptions& options, const RuleOptions& rule,
                                   Dimension dimension) {
  if (dimension == Dimension::kBytes) {
    return {per_second(rule.hot_bytes.value_or(options.hot_bytes)),
            per_second(rule.warm_bytes.value_or(options.warm_bytes))};
  }
  std::optional<double> warm = rule.warm_qps ? rule.warm_qps : options.warm_qps;
  // limits.automatic-qps limits only keys that are warm.
  const std::optional<double> hot = rule.hot_qps ? rule.hot_qps : options.hot_qps;
  if (!warm && options.automatic_qps > 0) {
    const double least = detect::kAutomaticWarm * hot.value_or(detect::kAutomaticHotRate);
    warm = std::min(options.automatic_qps, least);
  }
  return {hot, warm};
}

std::string pair_text(const Measure& measure) {
  return format_duration(measure.window) + " " + detect::to_string(measure.dimension);
}

// Returns "" without a fault; so do the functions below.
std::string match_fault(const RuleOptions& rule) {
  if (rule.match.empty())
    return "match is missing: write match: with a key, a prefix as in user:*, or a glob";
  if (rule.match.size() > detect::kKeyBytesMax)
    return "match is longer than " + std::to_string(detect::kKeyBytesMax) +
           " bytes, the longest key name that is kept: shorten it";
  return "";
}

std::string unit_fault(const RuleOptions& rule, Dimension dimension) {
  const std::string is = std::string(", but this rule counts ") + detect::to_string(dimension);
  if (dimension == Dimension::kBytes) {
    if (rule.hot_qps)
      return "hot-qps is not for bytes" + is + ": write hot-bytes, as in hot-bytes: 50mb";
    if (rule.warm_qps)
      return "warm-qps is not for bytes" + is + ": write warm-bytes, as in warm-bytes: 5mb";
  } else {
    if (rule.hot_bytes)
      return "hot-bytes is for bytes" + is + ": write hot-qps, or dimension: bytes";
    if (rule.warm_bytes)
      return "warm-bytes is for bytes" + is + ": write warm-qps, or dimension: bytes";
  }
  return "";
}

std::string threshold_fault(const ProxyOptions& options, const RuleOptions& rule,
                            Dimension dimension) {
  const bool bytes = dimension == Dimension::kBytes;
  if (bytes ? !rule.warm_bytes : !rule.warm_qps) return "";  // an inherited one is lowered
  const auto [hot, warm] = wanted_thresholds(options, rule, dimension);
  if (*warm <= hot.value_or(detect::kAutomaticHotRate)) return "";
  const std::string unit = bytes ? "bytes" : "qps";
  if (!hot)
    return fmt::format(
        "warm-qps is above {:g}, the least that hot-qps: auto may be: lower it, or set hot-qps",
        detect::kAutomaticHotRate);
  return "warm-" + unit + " is above hot-" + unit + ": lower the first or raise the second";
}

std::string tick_fault(const ProxyOptions& options, Nanos window) {
  if (options.tick <= window) return "";
  return "window " + format_duration(window) + " is shorter than detection.tick (" +
         format_duration(options.tick) + "): lengthen the window, or shorten the tick";
}

// Adds `measure` to `used`, if there is room for one more pair.
std::string measure_fault(std::vector<Measure>& used, const Measure& measure) {
  if (std::find(used.begin(), used.end(), measure) != used.end()) return "";
  if (used.size() < detect::kMeasuresMax) {
    used.push_back(measure);
    return "";
  }
  std::string known;
  for (const Measure& other : used) known += (known.empty() ? "" : ", ") + pair_text(other);
  return pair_text(measure) + " is one pair more than the " + std::to_string(detect::kMeasuresMax) +
         " pairs of window and dimension that rules may have: use one of " + known;
}

detect::Rule rule_of(const ProxyOptions& options, const RuleOptions& rule) {
  detect::Rule out;
  // Only the default rule, for all other keys, has no match.
  out.match = rule.match.empty() ? "*" : rule.match;
  out.measure = measure_of(options, rule);
  const auto [hot, warm] = wanted_thresholds(options, rule, out.measure.dimension);
  detect::set_thresholds(out, hot, warm);
  if (options.fleet_size > 1)
    detect::divide_thresholds(out, static_cast<std::uint64_t>(options.fleet_size));
  out.hot_share = rule.hot_share.value_or(options.hot_share).part;
  out.confirm_windows =
      static_cast<std::uint32_t>(rule.confirm_windows.value_or(options.confirm_windows));
  out.demote_ratio = rule.demote_ratio.value_or(options.demote_ratio);
  out.minimum_residence = rule.minimum_residence.value_or(options.minimum_residence);
  out.write_hot_ratio = rule.write_hot_ratio.value_or(options.write_hot_ratio);
  return out;
}

}  // namespace

Measure measure_of(const ProxyOptions& options) { return {options.window, options.dimension}; }

Measure measure_of(const ProxyOptions& options, const RuleOptions& rule) {
  return {rule.window.value_or(options.window), rule.dimension.value_or(options.dimension)};
}

std::vector<RuleFault> rule_faults(const ProxyOptions& options) {
  std::vector<RuleFault> faults;
  std::vector<Measure> used{measure_of(options)};
  for (std::size_t i = 0; i < options.rules.size(); ++i) {
    const RuleOptions& rule = options.rules[i];
    const Measure measure = measure_of(options, rule);
    for (std::string fault :
         {match_fault(rule), unit_fault(rule, measure.dimension),
          threshold_fault(options, rule, measure.dimension), tick_fault(options, measure.window),
          measure_fault(used, measure), staleness_fault(options, rule), outage_fault(options, rule),
          tracking_fault(options, rule), replica_fault(options, rule), limit_fault(options, rule),
          spread_fault(options, rule)}) {
      if (!fault.empty()) faults.push_back({i, std::move(fault)});
    }
  }
  return faults;
}

Result<detect::RuleSet> rule_set(const ProxyOptions& options, const ShownName& shown) {
  std::vector<detect::Rule> rules;
  for (const RuleOptions& rule : options.rules) {
    rules.push_back(rule_of(options, rule));
    const detect::KeyPattern pattern(rule.match);
    if (shown && pattern.kind() == detect::KeyPattern::Kind::kExact)
      rules.back().name = shown(pattern.head());
  }
  return detect::RuleSet::make(rule_of(options, RuleOptions{}), std::move(rules));
}

detect::SelectorOptions selector_options(const ProxyOptions& options,
                                         const detect::RuleSet& rules) {
  detect::SelectorOptions selector;
  selector.rules = rules;
  selector.top_n = static_cast<std::uint32_t>(options.top_n);
  selector.promotion_interval = options.promotion_interval;
  selector.demotion_interval = options.demotion_interval;
  selector.burst = options.burst.part;
  return selector;
}

namespace {

struct ShardMeasure {
  Measure measure;
  detect::RuleSet::ShardCounts counts;
};

// A key that is urgent here is judged at once, which helps only if this proxy's own counts decide:
// the urgent count is not that of a fleet.
std::vector<ShardMeasure> shard_measures(const ProxyOptions& options, const detect::RuleSet& rules,
                                         std::uint64_t instances) {
  const auto workers = static_cast<std::size_t>(std::max<std::int64_t>(options.workers, 1));
  std::vector<ShardMeasure> out;
  for (const Measure& measure : rules.measures()) {
    const std::size_t at = out.size();
    const auto of_shards = [&](std::size_t shards) {
      return rules.shard_counts(at, options.burst.part, shards);
    };
    out.push_back({measure, of_shards(workers * std::max<std::uint64_t>(instances, 1))});
    out.back().counts.urgent_count = of_shards(workers).urgent_count;
  }
  return out;
}

}  // namespace

std::vector<detect::MeasureOptions> measure_options(const ProxyOptions& options,
                                                    const detect::RuleSet& rules,
                                                    std::uint64_t instances) {
  std::vector<detect::MeasureOptions> out;
  for (const auto& [measure, counts] : shard_measures(options, rules, instances))
    out.push_back({.measure = measure,
                   .urgent_count = counts.urgent_count,
                   .worth_tracking = counts.worth_tracking});
  return out;
}

std::vector<detect::CountLevel> shard_floors(const ProxyOptions& options,
                                             const detect::RuleSet& rules,
                                             std::uint64_t instances) {
  std::vector<detect::CountLevel> floors;
  for (const auto& [measure, counts] : shard_measures(options, rules, instances))
    floors.push_back(counts.floor);
  return floors;
}

namespace {

// "3000/s (detection.hot-qps) or the threshold of its rule (2 rules)"
std::string threshold_words(const ProxyOptions& options) {
  const bool bytes = measure_of(options).dimension == Dimension::kBytes;
  std::string out = bytes ? format_bytes(options.hot_bytes) + "/s (detection.hot-bytes)"
                          : detect::hot_qps_words(options.hot_qps);
  if (options.hot_share.part > 0)
    out += " or " + format_share(options.hot_share) + " of the traffic (detection.hot-share)";
  if (options.fleet_size > 1)
    out += " divided by " + std::to_string(options.fleet_size) + " (detection.fleet-size)";
  const std::size_t rules = options.rules.size();
  if (rules > 0)
    out += " or the threshold of its rule (" + std::to_string(rules) +
           (rules == 1 ? " rule)" : " rules)");
  return out;
}

}  // namespace

std::string quiet_sentence(const ProxyOptions& options) {
  return "no key reaches " + threshold_words(options);
}

std::string hot_definition(const ProxyOptions& options) {
  return "at least " + threshold_words(options);
}

}  // namespace heatsink::policy
