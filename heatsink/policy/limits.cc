// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/limits.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::policy {
namespace {

constexpr MetricRow kLimited{
    "heatsink_limited_total", MetricKind::kCounter,
    "Commands over the limit of a rule. outcome is rejected (got an error), "
    "delayed (waited for their turn) or stale (got a local copy that may be stale).",
    "rule, outcome"};
constexpr MetricRow kWaiting{"heatsink_limit_waiting", MetricKind::kGauge,
                             "Clients that wait for their turn under a limit now."};
constexpr MetricRow kAutomatic{
    "heatsink_automatic_limits", MetricKind::kGauge,
    "Keys that have a limit now because they are above limits.automatic-qps."};
constexpr std::array<const char*, 3> kOutcomes = {"rejected", "delayed", "stale"};
constexpr std::size_t kLabelBytes = 128;

// A rule for one exact name matches one key in each database.
constexpr std::size_t kExactKeysMax = 64;

std::size_t keys_max_for(const ProxyOptions& options, const LimitPolicy& policy,
                         const std::string& match) {
  const bool exact = detect::KeyPattern(match).kind() == detect::KeyPattern::Kind::kExact;
  return exact && policy.per == LimitPolicy::Per::kKey
             ? kExactKeysMax
             : static_cast<std::size_t>(options.limits_keys);
}

// Client numbers are small, but the table needs evenly distributed bits (MurmurHash3's finalizer).
std::uint64_t mixed(std::uint64_t n) {
  n = ((n + 1) ^ (n >> 33)) * 0xff51afd7ed558ccdULL;
  n = (n ^ (n >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return n ^ (n >> 33);
}

// Limits of several kinds that hold for the same keys have states of their own on the server.
std::shared_ptr<limit::SharedLimit> shared_limit(const LimitPolicy& policy,
                                                 const std::string& match, std::size_t keys_max,
                                                 limit::SharedLimits* shared) {
  if (policy.scope != LimitPolicy::Scope::kFleet || shared == nullptr) return nullptr;
  Result<std::shared_ptr<limit::SharedLimit>> opened = shared->open(
      std::to_string(static_cast<int>(policy.per)) + ":" + match, policy.limiter, keys_max);
  return opened.ok() ? *opened : nullptr;  // scope_fault() has made sure that it opens
}

std::string retry_text(Nanos retry_after) {
  const auto ms = std::chrono::ceil<Millis>(retry_after).count();
  // Above ten seconds the exact millisecond is noise.
  constexpr std::int64_t kMillisMax = 9999;
  if (ms <= kMillisMax) return std::to_string(std::max<std::int64_t>(ms, 1)) + " ms";
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(retry_after).count()) + " s";
}

std::string whose(const RuleLimit& limit, std::string_view key) {
  const std::string rule = " of rule " + printable(limit.name(), kLabelBytes);
  switch (limit.policy().per) {
    case LimitPolicy::Per::kKey:
      return key.empty() ? "key" : "key " + printable(key, kLabelBytes);
    case LimitPolicy::Per::kClient:
      return "client, for keys" + rule + ",";
    case LimitPolicy::Per::kPrefix:
      break;
  }
  return "keys" + rule;
}

}  // namespace

std::shared_ptr<RuleLimit::Limiters> RuleLimit::make_limiters(const LimitPolicy& policy,
                                                              std::size_t keys_max) {
  auto made = std::make_shared<Limiters>();
  if (policy.per == LimitPolicy::Per::kPrefix) {
    made->one = limit::make_limiter(policy.limiter).value();
  } else {
    made->table = std::make_unique<limit::LimiterTable>(policy.limiter, keys_max);
  }
  return made;
}

RuleLimit::RuleLimit(const LimitPolicy& policy, std::string name, std::size_t keys_max,
                     const RuleLimit* before, std::shared_ptr<limit::SharedLimit> shared)
    : policy_(policy), name_(std::move(name)), keys_max_(keys_max), shared_(std::move(shared)) {
  const bool is_same = before != nullptr && counts_like(*before);
  limiters_ = is_same ? before->limiters_ : make_limiters(policy, keys_max);
  counts_ = before != nullptr ? before->counts_ : std::make_shared<Counts>();
}

bool RuleLimit::counts_like(const RuleLimit& other) const {
  return policy_.limiter == other.policy_.limiter && policy_.per == other.policy_.per &&
         keys_max_ == other.keys_max_;
}

// Limits for each key and limits for each client have nothing in common.
void RuleLimit::take_over(RuleLimit& before, TimePoint now) noexcept {
  if (limiters_ == before.limiters_ || policy_.per != before.policy_.per) return;
  const limit::CarryOver carry(before.policy_.limiter, policy_.limiter, now);
  if (limiters_->one != nullptr) {
    carry.move(*before.limiters_->one, *limiters_->one);
  } else {
    limiters_->table->carry_from(*before.limiters_->table, carry, now);
  }
}

limit::Limiter& RuleLimit::of(KeyHash key, std::uint32_t client, TimePoint now) noexcept {
  switch (policy_.per) {
    case LimitPolicy::Per::kKey:
      return limiters_->table->of(key.value, now);
    case LimitPolicy::Per::kClient:
      return limiters_->table->of(mixed(client), now);
    case LimitPolicy::Per::kPrefix:
      break;
  }
  return *limiters_->one;
}

std::unique_ptr<Limits> Limits::make(const ProxyOptions& options, const detect::RuleSet& rules,
                                     const Limits* before, limit::SharedLimits* shared) {
  std::unique_ptr<Limits> made(new Limits(options, rules, before, shared));
  if (made->automatic_ == nullptr && !made->has_rules_) made.reset();
  return made;
}

Limits::Limits(const ProxyOptions& options, const detect::RuleSet& rules, const Limits* before,
               limit::SharedLimits* shared)
    : rules_(rules),
      waiting_max_(options.limits_waiting),
      shared_(before != nullptr ? before->shared_ : std::make_shared<Shared>()) {
  std::size_t index = 0;
  for (const std::optional<LimitPolicy>& policy : limits_of_rules(options)) {
    const detect::Rule& rule = rules.rules()[index++];
    limits_.emplace_back();
    if (!policy) continue;
    has_rules_ = true;
    has_hits_ |= policy->of == LimitPolicy::Of::kAll;
    const std::size_t keys_max = keys_max_for(options, *policy, rule.match);
    limits_.back() =
        std::make_unique<RuleLimit>(*policy, rule.name.empty() ? rule.match : rule.name, keys_max,
                                    before != nullptr ? before->of_match(rule.match) : nullptr,
                                    shared_limit(*policy, rule.match, keys_max, shared));
  }
  if (options.automatic_qps > 0)
    // The limiter table is set-associative: with four times the room, keys rarely compete for a
    // set.
    automatic_ = std::make_unique<RuleLimit>(
        automatic_limit(options), "limits.automatic-qps", 4 * kAutomaticMax,
        before != nullptr ? before->automatic_.get() : nullptr);
}

// The later one of two rules with the same match has the keys.
RuleLimit* Limits::of_match(std::string_view match) const {
  for (std::size_t i = limits_.size(); i > 1; --i) {
    if (rules_.rules()[i - 1].match == match) return limits_[i - 1].get();
  }
  return nullptr;
}

void Limits::take_over(const Limits& before, TimePoint now) noexcept {
  for (std::size_t i = 1; i < limits_.size(); ++i) {
    if (limits_[i] == nullptr) continue;
    if (RuleLimit* const old = before.of_match(rules_.rules()[i].match))
      limits_[i]->take_over(*old, now);
  }
  if (automatic_ == nullptr || before.automatic_ == nullptr) return;
  automatic_->take_over(*before.automatic_, now);
  automatic_keys_.store(before.automatic_keys());
}

const RuleLimit* Limits::of_rule(std::string_view key, bool is_whole) const noexcept {
  return limits_[rules_.index_of(rules_.of(key, is_whole))].get();
}

RuleLimit* Limits::of(std::string_view key, KeyHash hash) noexcept {
  RuleLimit* const limit = limits_[rules_.index_of(rules_.of(key))].get();
  if (limit != nullptr || automatic_ == nullptr || automatic_keys() == 0) return limit;
  // A worker may see the count before the limiter: then the key has no limit for a moment.
  return automatic_->has(hash) ? automatic_.get() : nullptr;
}

void Limits::begin_automatic(KeyHash key, TimePoint now) noexcept {
  automatic_->of(key, 0, now);
  automatic_keys_.fetch_add(1, std::memory_order_relaxed);
}

void Limits::end_automatic(KeyHash key) noexcept {
  automatic_keys_.fetch_sub(1, std::memory_order_relaxed);
  automatic_->drop(key);
}

bool Limits::start_waiting() noexcept {
  if (shared_->waiting.fetch_add(1, std::memory_order_relaxed) < waiting_max_) return true;
  stop_waiting();
  return false;
}

MetricRows Limits::metric_rows() { return {&kLimited, &kWaiting, &kAutomatic}; }

void Limits::append_samples(MetricSamples& samples) const {
  const auto append = [&samples](const RuleLimit& limit) {
    for (std::size_t i = 0; i < kOutcomes.size(); ++i)
      samples.push_back(
          {&kLimited,
           static_cast<double>(limit.counted(static_cast<LimitOutcome>(i))),
           {{"rule", printable(limit.name(), kLabelBytes)}, {"outcome", kOutcomes[i]}}});
  };
  for (const auto& limit : limits_)
    if (limit != nullptr) append(*limit);
  if (automatic_ != nullptr) append(*automatic_);
  samples.push_back(
      {&kWaiting, static_cast<double>(shared_->waiting.load(std::memory_order_relaxed))});
  samples.push_back({&kAutomatic, static_cast<double>(automatic_keys())});
}

std::string busy_text(const RuleLimit& limit, std::string_view key, Nanos retry_after) {
  std::string out = "BUSY heatsink: " + whose(limit, key) + " limited to " +
                    limit::format_rate(limit.policy().limiter.rate) + ", ";
  if (retry_after == limit::kNever)
    return out + "and this command needs more than the limit allows at once";
  return out + "retry in " + retry_text(retry_after);
}

}  // namespace heatsink::policy
