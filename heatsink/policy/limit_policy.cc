// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limit_policy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "heatsink/policy/levels.h"

namespace heatsink::policy {
namespace {

using limit::Algorithm;
using Of = LimitPolicy::Of;
using Over = LimitPolicy::Over;

constexpr Nanos kDelayMaxDefault = std::chrono::seconds(1);
constexpr int kStaleMaxFactor = 10;  // of max-staleness

bool is_window(Algorithm algorithm) {
  return algorithm == Algorithm::kFixedWindow || algorithm == Algorithm::kSlidingWindow;
}

cache::ConsistencyPolicy cache_consistency(const ProxyOptions& options, const RuleOptions& rule) {
  // levels.h knows which values a rule inherits: ask it about this one rule.
  ProxyOptions alone;
  alone.level = options.level;
  alone.max_staleness = options.max_staleness;
  alone.rules.push_back(rule);
  return consistency_of_rules(alone).back();
}

// REQUIRES a limit.rate that parses.
LimitPolicy limit_policy_of(const ProxyOptions& options, const RuleOptions& rule) {
  LimitPolicy policy;
  policy.limiter.rate = limit::parse_rate(rule.limit_rate).value();
  policy.limiter.algorithm = rule.limit_algorithm;
  policy.limiter.burst = static_cast<std::uint64_t>(rule.limit_burst.value_or(0));
  policy.of = rule.limit_of;
  policy.per = rule.limit_per;
  policy.over = rule.limit_over;
  policy.scope = rule.limit_scope;
  if (policy.over == Over::kDelay)
    policy.limiter.patience = rule.limit_delay_max.value_or(kDelayMaxDefault);
  if (policy.over == Over::kStale)
    policy.stale_max = rule.limit_stale_max.value_or(
        kStaleMaxFactor * cache_consistency(options, rule).max_staleness);
  return policy;
}

std::string orphan_fault(const RuleOptions& rule) {
  const RuleOptions unset;
  const bool says_more = rule.limit_burst || rule.limit_delay_max || rule.limit_stale_max ||
                         rule.limit_algorithm != unset.limit_algorithm ||
                         rule.limit_of != unset.limit_of || rule.limit_per != unset.limit_per ||
                         rule.limit_over != unset.limit_over ||
                         rule.limit_scope != unset.limit_scope;
  return says_more
             ? "limit.rate is missing: write it, as in 5000/s, or remove the other limit options"
             : "";
}

std::string scope_fault(const LimitPolicy& policy) {
  if (policy.scope == LimitPolicy::Scope::kProxy) return "";
  const bool is_known = policy.limiter.algorithm == Algorithm::kTokenBucket ||
                        policy.limiter.algorithm == Algorithm::kSlidingWindow;
  if (!is_known)
    return "limit.scope: fleet does not work with this limit.algorithm: "
           "write token-bucket or sliding-window, or limit.scope: proxy";
  if (policy.over == Over::kDelay)
    return "limit.scope: fleet does not work with limit.over: delay, "
           "because the proxies have no common queue: "
           "write limit.over: reject, or limit.scope: proxy";
  if (policy.limiter.rate.per < Millis(1) || policy.limiter.rate.per > std::chrono::hours(24))
    return "limit.scope: fleet needs a limit.rate per 1ms to 24h";
  return "";
}

std::string delay_fault(const RuleOptions& rule, const LimitPolicy& policy) {
  const limit::LimiterOptions& limiter = policy.limiter;
  if (policy.over != Over::kDelay)
    return rule.limit_delay_max ? "limit.delay-max needs limit.over: delay" : "";
  if (is_window(limiter.algorithm))
    return "limit.over: delay does not work with a window, which has no queue: "
           "write limit.algorithm: token-bucket";
  if (limiter.algorithm == Algorithm::kLeakyBucket)
    return "limit.over: delay does not work with a leaky bucket, "
           "which always delays (limit.over is for commands that find its queue full): "
           "write reject or stale, or limit.algorithm: token-bucket";
  const Nanos turn = limiter.rate.per / static_cast<std::int64_t>(limiter.rate.count);
  if (turn <= limiter.patience) return "";
  return "at " + rule.limit_rate + " the next turn is " + format_duration(turn) +
         " away, but the longest wait is " + format_duration(limiter.patience) +
         ": raise limit.delay-max or limit.rate, or write limit.over: reject";
}

// A leaky bucket queues up to its burst, so the burst bounds the wait.
std::string queue_fault(const LimitPolicy& policy) {
  if (policy.limiter.algorithm != Algorithm::kLeakyBucket) return "";
  const double rate = policy.limiter.rate.per_second();
  const double queue =
      policy.limiter.burst == 0 ? std::max(rate, 1.0) : static_cast<double>(policy.limiter.burst);
  constexpr double kWaitMax = 60;  // seconds
  if (queue / rate <= kWaitMax) return "";
  return "the last command in a full queue would wait longer than a minute: lower limit.burst";
}

std::string stale_fault(const ProxyOptions& options, const RuleOptions& rule,
                        const LimitPolicy& policy) {
  if (policy.over != Over::kStale)
    return rule.limit_stale_max ? "limit.stale-max needs limit.over: stale" : "";
  if (policy.of == Of::kWrites)
    return "limit.over: stale is for reads, but this limit counts writes: write limit.over: reject";
  if (!options.cache_enabled)
    return "limit.over: stale serves local copies, but cache.enabled is false: "
           "enable it, or use another limit.over";
  if (rule.stale_while_error)
    return "limit.over: stale and stale-while-error cannot be combined: write one of them";
  const cache::Level level = cache_consistency(options, rule).level;
  if (level != cache::Level::kOff && level != cache::Level::kSession) return "";
  return std::string("limit.over: stale serves copies without proof, but level: ") +
         to_string(level) + " excludes them: write level: key, or use another limit.over";
}

}  // namespace

std::vector<std::optional<LimitPolicy>> limits_of_rules(const ProxyOptions& options) {
  std::vector<std::optional<LimitPolicy>> limits{std::nullopt};
  for (const RuleOptions& rule : options.rules) {
    limits.emplace_back();
    if (!rule.limit_rate.empty()) limits.back() = limit_policy_of(options, rule);
  }
  return limits;
}

LimitPolicy automatic_limit(const ProxyOptions& options) {
  LimitPolicy policy;
  policy.limiter.rate.count = static_cast<std::uint64_t>(
      std::min(options.automatic_qps, static_cast<double>(limit::kPerSecondMax)));
  return policy;
}

std::string limit_text(const LimitPolicy& policy) {
  constexpr std::array<std::string_view, 3> kOf = {", counting commands that go to the server",
                                                   ", counting all commands (local hits too)",
                                                   ", counting writes"};
  const bool is_shared = policy.scope == LimitPolicy::Scope::kFleet;
  return limit::format_rate(policy.limiter.rate) + " per " + std::string(to_string(policy.per)) +
         (is_shared ? " of the fleet" : "") +
         std::string(kOf[static_cast<std::size_t>(policy.of)]) +
         "; over it: " + std::string(to_string(policy.over));
}

std::string limit_fault(const ProxyOptions& options, const RuleOptions& rule) {
  if (rule.limit_rate.empty()) return orphan_fault(rule);
  const Result<limit::Rate> rate = limit::parse_rate(rule.limit_rate);
  if (!rate) return "limit.rate: " + rate.error().message;
  const LimitPolicy policy = limit_policy_of(options, rule);
  if (rule.limit_burst && is_window(policy.limiter.algorithm))
    return "limit.burst is for buckets, but a window has its count: remove limit.burst";
  // The limiter checks its own values, so RuleLimit can always make the limiter of a rule that
  // passes.
  if (const auto made = limit::make_limiter(policy.limiter); !made)
    return "limit: " + made.error().message;
  for (std::string fault : {scope_fault(policy), delay_fault(rule, policy), queue_fault(policy),
                            stale_fault(options, rule, policy)}) {
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string fleet_fault(const ProxyOptions& options) {
  constexpr std::size_t kNameBytesMax = 64;
  const auto is_allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  const std::string& name = options.fleet_name;
  if (name.empty() || name.size() > kNameBytesMax ||
      !std::all_of(name.begin(), name.end(), is_allowed))
    return "fleet.name must be 1 to 64 letters, digits or the characters . _ -";
  if (options.fleet_enabled && !options.detection_enabled)
    return "fleet.enabled needs detection, but detection.enabled is false: "
           "enable it, or set fleet.enabled to false";
  return "";
}

std::string automatic_fault(const ProxyOptions& options) {
  if (options.automatic_qps == 0) return "";
  if (options.automatic_qps < 1) return "limits.automatic-qps must be at least 1, or 0 for off";
  if (!options.detection_enabled)
    return "limits.automatic-qps needs detection, but detection.enabled is false: "
           "enable it, or set limits.automatic-qps to 0";
  if (options.automatic_qps >= options.warm_qps.value_or(0)) return "";
  return "limits.automatic-qps is below detection.warm-qps, "
         "but the proxy does not know keys that are not warm: "
         "raise it, or lower detection.warm-qps";
}

}  // namespace heatsink::policy
