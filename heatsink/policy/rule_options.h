// SPDX-License-Identifier: Apache-2.0
// Declares the options of one rule: an item of `rules:`, or the flag --rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/detect/measure.h"
#include "heatsink/limit/limit.h"

namespace heatsink::policy {

// The words of these options, in the order of their rows' choices.
enum class Admission : std::uint8_t { kPays, kHot, kOff };  // kOff: only of a rule
enum class Refresh : std::uint8_t { kOn, kOff };
enum class ClientTracking : std::uint8_t { kOff, kPays };
enum class ReadsFrom : std::uint8_t {
  kMaster,
  kReplicas,
  kAll,  // replicas, and the master as one of them
};
enum class LimitOf : std::uint8_t { kUpstream, kAll, kWrites };
enum class LimitPer : std::uint8_t { kKey, kClient, kPrefix };
enum class LimitScope : std::uint8_t { kProxy, kFleet };
enum class LimitOver : std::uint8_t { kReject, kDelay, kStale };
std::string_view to_string(ReadsFrom from);  // "master", "replicas", "all"
std::string_view to_string(LimitPer per);    // "key", "client", "prefix"
std::string_view to_string(LimitOver over);  // "reject", "delay", "stale"

// A value up to kLast, or none: then the value for all keys holds. In the row's choices the word
// for none, kInherit, follows those of the values.
template <class E, E kLast>
class OrInherit {
 public:
  OrInherit() = default;
  OrInherit(E value) : place_(static_cast<ChoicePlace>(value)) {}  // NOLINT: a plain value is one

  E value_or(E inherited) const { return place_ == kInherits ? inherited : static_cast<E>(place_); }
  ChoicePlace* place() { return &place_; }  // for the row
  friend bool operator==(const OrInherit&, const OrInherit&) = default;

 private:
  static constexpr ChoicePlace kInherits = static_cast<ChoicePlace>(kLast) + 1;
  ChoicePlace place_ = kInherits;
};

// Unset values inherit those for all keys: detection.* (rules.h) and cache.* (levels.h).
struct RuleOptions {
  std::string match;
  std::optional<Nanos> window;
  OrInherit<detect::Dimension, detect::Dimension::kMisses> dimension;
  std::optional<double> hot_qps, warm_qps;
  std::optional<Bytes> hot_bytes, warm_bytes;
  std::optional<Share> hot_share;
  std::optional<std::int64_t> confirm_windows;
  std::optional<double> demote_ratio, write_hot_ratio;
  std::optional<Nanos> minimum_residence;
  OrInherit<Admission, Admission::kOff> admission;
  OrInherit<cache::Level, cache::Level::kSession> level;
  std::optional<Nanos> max_staleness;
  std::optional<Nanos> coalesce;
  OrInherit<Refresh, Refresh::kOff> refresh;
  OrInherit<ClientTracking, ClientTracking::kPays> client_tracking;  // inherits proxy.*
  std::optional<Nanos> stale_while_error;
  ReadsFrom reads = ReadsFrom::kMaster;
  std::optional<Nanos> replica_lag;

  // limit.*: how often (limit_policy.h)
  std::string limit_rate;  // "": no limit
  std::optional<std::int64_t> limit_burst;
  limit::Algorithm limit_algorithm = limit::Algorithm::kTokenBucket;
  LimitOf limit_of = LimitOf::kUpstream;
  LimitPer limit_per = LimitPer::kKey;
  LimitScope limit_scope = LimitScope::kProxy;
  LimitOver limit_over = LimitOver::kReject;
  std::optional<Nanos> limit_delay_max, limit_stale_max;

  // spread.*: on several nodes of a cluster (spread_policy.h)
  std::optional<std::int64_t> spread_copies, spread_parts;
  std::optional<Nanos> spread_ttl;

  void describe(OptionSet& set);
  friend bool operator==(const RuleOptions&, const RuleOptions&) = default;

 private:
  void describe_detection(OptionSet& set);
  void describe_copies(OptionSet& set);
  void describe_replicas(OptionSet& set);
  void describe_limit(OptionSet& set);
  void describe_spread(OptionSet& set);
};

}  // namespace heatsink::policy
