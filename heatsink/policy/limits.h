// SPDX-License-Identifier: Apache-2.0
// Keeps the limits of all rules and keys of one process, shared by all its workers.
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

// The limit of one rule: a single limiter, or one limiter for each key or client.
class RuleLimit {
 public:
  // `name`: the rule's name in messages and metrics. `keys_max`: how many keys or clients have a
  // limiter of their own at once.
  RuleLimit(const LimitPolicy& policy, std::string name, std::size_t keys_max);

  const LimitPolicy& policy() const { return policy_; }
  const std::string& name() const { return name_; }

  // The limiter of this key, of the client with this number, or of the rule, as the policy says.
  limit::Limiter& of(KeyHash key, std::uint32_t client, TimePoint now) noexcept;
  // For automatic limits, which single keys have (Limits::begin_automatic).
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
  std::unique_ptr<limit::Limiter> one_;         // with kPrefix
  std::unique_ptr<limit::LimiterTable> table_;  // with kKey and kClient
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(LimitOutcome::kCount)> counts_{};
};

// Thread-safe without a lock. Finding a key's limit costs one detect::RuleSet::of().
class Limits {
 public:
  // Null if no rule has a limit and automatic limits are off. `rules`: made from `options`.
  static std::unique_ptr<Limits> make(const ProxyOptions& options, const detect::RuleSet& rules);

  // No key has a limit now.
  bool idle() const { return !has_rules_ && automatic_keys() == 0; }
  // Null: the key has no limit.
  RuleLimit* of(std::string_view key, KeyHash hash) noexcept;
  // The limit of the key's rule, without automatic limits. For a truncated name (`is_whole` false)
  // see detect::RuleSet::of().
  const RuleLimit* of_rule(std::string_view key, bool is_whole) const noexcept;
  bool has_hits() const { return has_hits_; }  // some rule also counts local hits

  // Begins or ends the automatic limit of a key whose rule has none. One thread calls them, in
  // turn, for at most kAutomaticMax keys at once. REQUIRES limits.automatic-qps.
  static constexpr std::size_t kAutomaticMax = 64;
  void begin_automatic(KeyHash key, TimePoint now) noexcept;
  void end_automatic(KeyHash key) noexcept;
  // The limit of such a key; null: automatic limits are off.
  const RuleLimit* automatic() const { return automatic_.get(); }
  bool is_automatic(KeyHash key) const noexcept {
    return automatic_keys() > 0 && automatic_->has(key);
  }
  std::size_t automatic_keys() const { return automatic_keys_.load(std::memory_order_relaxed); }

  // Reserves room for a command that waits for its turn; false: limits.maximum-waiting is reached.
  // Each success needs one stop_waiting().
  bool start_waiting() noexcept;
  void stop_waiting() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }

  // Counts one held-back command, for the rule and for the key.
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
  std::vector<std::unique_ptr<RuleLimit>> limits_;  // in the order of `rules_`; null: no limit
  std::unique_ptr<RuleLimit> automatic_;            // null: automatic limits are off
  bool has_rules_ = false;
  bool has_hits_ = false;
  std::atomic<std::size_t> automatic_keys_{0};
  const std::int64_t waiting_max_;
  std::atomic<std::int64_t> waiting_{0};
  LimitedKeys limited_keys_;
};

// The error for a command over a limit: "BUSY heatsink: key limited to 5000/s, retry in 12 ms".
// `key`: its shown name if the command has several keys, else "". A `retry_after` of limit::kNever
// means that the command needs more than the limit allows at once.
std::string busy_text(const RuleLimit& limit, std::string_view key, Nanos retry_after);

}  // namespace heatsink::policy
