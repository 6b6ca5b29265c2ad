// SPDX-License-Identifier: Apache-2.0
// Declares the options of one rule: an item of `rules:`, or the flag --rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"

namespace heatsink::policy {

// Unset values inherit those for all keys: detection.* (rules.h) and cache.* (levels.h).
struct RuleOptions {
  std::string match;
  std::optional<Nanos> window;
  std::string dimension{kInherit};
  std::optional<double> hot_qps, warm_qps;
  std::optional<Bytes> hot_bytes, warm_bytes;
  std::optional<Share> hot_share;
  std::optional<std::int64_t> confirm_windows;
  std::optional<double> demote_ratio, write_hot_ratio;
  std::optional<Nanos> minimum_residence;
  std::string admission{kInherit};
  std::string level{kInherit};
  std::optional<Nanos> max_staleness;
  std::optional<Nanos> coalesce;
  std::string refresh{kInherit};
  std::optional<Nanos> stale_while_error;
  std::string reads = "master";
  std::optional<Nanos> replica_lag;

  // limit.*: how often (limit_policy.h)
  std::string limit_rate;  // "": no limit
  std::optional<std::int64_t> limit_burst;
  std::string limit_algorithm = "token-bucket";
  std::string limit_of = "upstream";
  std::string limit_per = "key";
  std::string limit_scope = "proxy";
  std::string limit_over = "reject";
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
