// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/detect_options.h"

#include <algorithm>
#include <thread>

namespace heatsink::client {
namespace {

constexpr std::uint64_t kBytesPerKey = 250;         // of the recorder
constexpr std::size_t kTemplateBytes = 200'000;     // of all shards, besides that
constexpr std::uint64_t kPerSecondMax = 1'000'000;  // beyond this rate, accesses are sampled
// In a fleet, keys with this part of a threshold are tracked.
constexpr std::size_t kFleetOf = 256;

}  // namespace

detect::RuleSet rules_of(const ClientOptions& options) {
  detect::Rule rule;
  rule.measure.window = options.window;
  detect::set_thresholds(rule, options.hot_qps, options.warm_qps);
  rule.confirm_windows = static_cast<std::uint32_t>(options.confirm_windows);
  rule.demote_ratio = options.demote_ratio;
  rule.minimum_residence = std::min(options.minimum_residence, options.inactive_expire);
  rule.write_hot_ratio = options.write_hot_ratio;
  if (options.fleet_size > 1)
    detect::divide_thresholds(rule, static_cast<std::uint64_t>(options.fleet_size));
  return detect::RuleSet(rule);
}

detect::SelectorOptions selector_options(const ClientOptions& options,
                                         const detect::RuleSet& rules) {
  detect::SelectorOptions selector;
  selector.rules = rules;
  selector.top_n = static_cast<std::uint32_t>(std::min(options.top_n, options.maximum_size));
  selector.promotion_interval = options.promotion_interval;
  // A key without accesses falls below its threshold within one window, and is demoted then.
  selector.demotion_interval =
      std::min(options.demotion_interval, options.inactive_expire - options.window);
  selector.burst = kBurst;
  return selector;
}

detect::RecorderOptions recorder_options(const ClientOptions& options, std::uint64_t seed,
                                         const detect::RuleSet& rules) {
  detect::RecorderOptions recorder;
  recorder.window = options.window;
  recorder.memory_bytes = static_cast<std::uint64_t>(options.capacity) * kBytesPerKey;
  recorder.template_bytes = kTemplateBytes;
  recorder.seed = seed;
  recorder.lossless_per_second = kPerSecondMax;
  const detect::RuleSet::ShardCounts counts = rules.shard_counts(0, kBurst, 1);
  recorder.worth_tracking = counts.worth_tracking;
  if (options.fleet_enabled)
    recorder.worth_tracking = rules.shard_counts(0, kBurst, kFleetOf).worth_tracking;
  recorder.urgent_count = counts.urgent_count;
  return recorder;
}

std::size_t shards_of(const ClientOptions& options) {
  if (options.shards != 0) return static_cast<std::size_t>(options.shards);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
}

detect::CountLevel floor_of(const ClientOptions& options, const detect::RuleSet& rules) {
  const std::size_t instances = options.fleet_enabled ? kFleetOf : 1;
  return rules.shard_counts(0, kBurst, shards_of(options) * instances).floor;
}

}  // namespace heatsink::client
