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
  // limiter of their own at once. `before`: the limit that this one replaces; null: there was none.
  // It shares that one's limiters if their numbers are the same, and its counts in any case.
  // `shared`: with limit.scope: fleet, the limit of all proxies.
  RuleLimit(const LimitPolicy& policy, std::string name, std::size_t keys_max,
            const RuleLimit* before = nullptr, std::shared_ptr<limit::SharedLimit> shared = {});

  const LimitPolicy& policy() const { return policy_; }
  const std::string& name() const { return name_; }
  // Takes over what `before` has given away, if the numbers differ. REQUIRES the limit that the
  // constructor got, and that this one is not used yet.
  void take_over(RuleLimit& before, TimePoint now) noexcept;

  // Null: this process keeps the limit by itself, and of() has its limiters. Else its limiters have
  // names: that of the key, the client's address, or "" for all keys of the rule.
  limit::SharedLimit* shared() const { return shared_.get(); }
  // The limiter of this key, of the client with this number, or of the rule, as the policy says.
  limit::Limiter& of(KeyHash key, std::uint32_t client, TimePoint now) noexcept;
  // For automatic limits, which single keys have (Limits::begin_automatic).
  bool has(KeyHash key) noexcept { return limiters_->table->find(key.value) != nullptr; }
  void drop(KeyHash key) noexcept { limiters_->table->drop(key.value); }

  void count(LimitOutcome outcome) noexcept {
    (*counts_)[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t counted(LimitOutcome outcome) const noexcept {
    return (*counts_)[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
  }

 private:
  using Counts =
      std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(LimitOutcome::kCount)>;
  struct Limiters {
    std::unique_ptr<limit::Limiter> one;         // with kPrefix
    std::unique_ptr<limit::LimiterTable> table;  // with kKey and kClient
  };
  static std::shared_ptr<Limiters> make_limiters(const LimitPolicy& policy, std::size_t keys_max);
  bool counts_like(const RuleLimit& other) const;

  const LimitPolicy policy_;
  const std::string name_;
  const std::size_t keys_max_;
  // Shared with the limits of the same rule before and after this one.
  std::shared_ptr<Limiters> limiters_;
  std::shared_ptr<Counts> counts_;
  std::shared_ptr<limit::SharedLimit> shared_;
};

// Thread-safe without a lock. Finding a key's limit costs one detect::RuleSet::of().
class Limits {
 public:
  // Null if no rule has a limit and automatic limits are off. `rules`: made from `options`.
  // `before`: the limits that these replace; a rule is known by its match.
  // `shared` opens limits with limit.scope: fleet; null: each process keeps them by itself.
  static std::unique_ptr<Limits> make(const ProxyOptions& options, const detect::RuleSet& rules,
                                      const Limits* before = nullptr,
                                      limit::SharedLimits* shared = nullptr);
  // Just before these limits replace `before`: takes over what those have given away. By the thread
  // that begins automatic limits. REQUIRES the limits that make() got.
  void take_over(const Limits& before, TimePoint now) noexcept;

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
  void stop_waiting() noexcept { shared_->waiting.fetch_sub(1, std::memory_order_relaxed); }

  // Counts one held-back command, for the rule and for the key.
  void count(RuleLimit& limit, LimitOutcome outcome, KeyHash key, TimePoint now) noexcept {
    limit.count(outcome);
    shared_->limited_keys.add(key, now);
  }
  double limited_rate(KeyHash key, TimePoint now) const {
    return shared_->limited_keys.rate(key, now);
  }

  void append_samples(MetricSamples& samples) const;
  static MetricRows metric_rows();

 private:
  // The state that successive limits share.
  struct Shared {
    std::atomic<std::int64_t> waiting{0};
    LimitedKeys limited_keys;
  };

  Limits(const ProxyOptions& options, const detect::RuleSet& rules, const Limits* before,
         limit::SharedLimits* shared);
  RuleLimit* of_match(std::string_view match) const;

  const detect::RuleSet rules_;
  std::vector<std::unique_ptr<RuleLimit>> limits_;  // in the order of `rules_`; null: no limit
  std::unique_ptr<RuleLimit> automatic_;            // null: automatic limits are off
  bool has_rules_ = false;
  bool has_hits_ = false;
  std::atomic<std::size_t> automatic_keys_{0};
  const std::int64_t waiting_max_;
  std::shared_ptr<Shared> shared_;
};

// The error for a command over a limit: "BUSY heatsink: key limited to 5000/s, retry in 12 ms".
// `key`: its shown name if the command has several keys, else "". A `retry_after` of limit::kNever
// means that the command needs more than the limit allows at once.
std::string busy_text(const RuleLimit& limit, std::string_view key, Nanos retry_after);

}  // namespace heatsink::policy
