// SPDX-License-Identifier: Apache-2.0
// The limits of one process: for each key its rule's, shared by all workers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/metric.h"
#include "heatsink/detect/detect.h"
#include "heatsink/limit/limit.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/limit_policy.h"
#include "heatsink/policy/limited_keys.h"

namespace heatsink::policy {

enum class LimitOutcome : std::uint8_t { kRejected, kDelayed, kStale, kCount };

// A rule's limit, with what it has given away: one limiter, or one for each key or client.
class RuleLimit {
 public:
  // `name` as people are shown the rule.
  RuleLimit(const LimitPolicy& policy, std::string name, std::size_t keys_max);

  const LimitPolicy& policy() const { return policy_; }
  const std::string& name() const { return name_; }

  // That of this key, or of the client with this number, whichever the policy are for.
  limit::Limiter& of(KeyHash key, std::uint32_t client, TimePoint now) noexcept;
  // Of limits that are given to single keys (Limits::begin_automatic).
  bool has(KeyHash key) noexcept { return table_->find(key.value) != nullptr; }
  void drop(KeyHash key) noexcept { table_->drop(key.value); }

  void count(LimitOutcome outcome) noexcept {
    counts_[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t counted(LimitOutcome outcome) const noexcept {
    return counts_[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
  }

 private:
  const LimitPolicy policy_;
  const std::string name_;
  std::unique_ptr<limit::Limiter> one_;         // of kPrefix
  std::unique_ptr<limit::LimiterTable> table_;  // of the others
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(LimitOutcome::kCount)> counts_{};
};

// Any thread, without a lock. What a key's rule is costs what detect::RuleSet::of() does.
class Limits {
 public:
  // Null: no rule has a limit and none is automatic. `rules` are those of `options`.
  static std::unique_ptr<Limits> make(const ProxyOptions& options, const detect::RuleSet& rules);

  // No key has one now.
  bool idle() const { return !has_rules_ && automatic_keys() == 0; }
  // Null: the key has none.
  RuleLimit* of(std::string_view key, KeyHash hash) noexcept;
  // Likewise of the rule alone; of a truncated name (`is_whole` false) see detect::RuleSet::of().
  const RuleLimit* of_rule(std::string_view key, bool is_whole) const noexcept;
  bool has_hits() const { return has_hits_; }  // some rule counts local hits too

  // A key whose rule says nothing of a limit has one from now on, or no longer: by one thread, in
  // turn, and for at most kAutomaticMax at once. REQUIRES limits.automatic-qps.
  static constexpr std::size_t kAutomaticMax = 64;
  void begin_automatic(KeyHash key, TimePoint now) noexcept;
  void end_automatic(KeyHash key) noexcept;
  // What such a key has; null: off.
  const RuleLimit* automatic() const { return automatic_.get(); }
  bool is_automatic(KeyHash key) const noexcept {
    return automatic_keys() > 0 && automatic_->has(key);
  }
  std::size_t automatic_keys() const { return automatic_keys_.load(std::memory_order_relaxed); }

  // A place among those who wait for their turn; false: there is none left. Each wants its
  // stop_waiting().
  bool start_waiting() noexcept;
  void stop_waiting() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }

  // Something was held back: of the rule, and of the key.
  void count(RuleLimit& limit, LimitOutcome outcome, KeyHash key, TimePoint now) noexcept {
    limit.count(outcome);
    limited_keys_.add(key, now);
  }
  double limited_rate(KeyHash key, TimePoint now) const { return limited_keys_.rate(key, now); }

  void append_samples(MetricSamples& samples) const;
  static MetricRows metric_rows();

 private:
  Limits(const ProxyOptions& options, const detect::RuleSet& rules);

  const detect::RuleSet rules_;
  std::vector<std::unique_ptr<RuleLimit>> limits_;  // at the keys_max of `rules_`; null: none
  std::unique_ptr<RuleLimit> automatic_;            // null: off
  bool has_rules_ = false;
  bool has_hits_ = false;
  std::atomic<std::size_t> automatic_keys_{0};
  const std::int64_t waiting_max_;
  std::atomic<std::int64_t> waiting_{0};
  LimitedKeys limited_keys_;
};

// The answer to a command that is over a limit: "BUSY heatsink: key limited to 5000/s, retry in 12
// ms". `key` as it is to be shown, where a command names several; else "". kNever as in
// limit::Decision: more at once than the limit ever allows.
std::string busy_text(const RuleLimit& limit, std::string_view key, Nanos retry_after);

}  // namespace heatsink::policy
