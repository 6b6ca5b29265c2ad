// SPDX-License-Identifier: Apache-2.0
// What can be set for some keys: an item of `rules:`, or the flag --rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"

namespace heatsink::proxy {

// What is not set is as detection.* (rules.h) and cache.* (levels.h) have it for all keys.
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
  std::string level{kInherit};
  std::optional<Nanos> max_staleness;

  void describe(OptionSet& set);
};

}  // namespace heatsink::proxy
