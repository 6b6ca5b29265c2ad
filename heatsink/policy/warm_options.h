// SPDX-License-Identifier: Apache-2.0
// Declares one item of `warming:`: which keys the proxy keeps warm, at which time of day.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "heatsink/base/option.h"
#include "heatsink/base/result.h"
#include "heatsink/policy/warm_window.h"
#include "heatsink/report/warming.h"

namespace heatsink::policy {

// Exactly one of `key`, `file` and `pattern` is set.
struct WarmingOptions {
  std::string key, file, pattern;
  std::int64_t keys_max = report::WarmPattern::kKeysMax;  // most keys of the pattern
  Nanos search_again{0};                                  // 0: once, when the window opens
  std::int64_t db = 0;
  std::string from, until, days, zone = "local";

  void describe(OptionSet& set);
  friend bool operator==(const WarmingOptions&, const WarmingOptions&) = default;

  // The keys of the item; reads the file. Empty for a pattern, whose keys are not known yet.
  Result<std::vector<report::WarmKey>> keys() const;
  report::WarmPattern names() const;  // REQUIRES a pattern
  Result<WarmWindow> window() const { return WarmWindow::parse({from, until, days, zone}); }
};

// Mistakes in the items, each with its fix. Reads the named files.
struct WarmingFault {
  std::size_t item;  // its index in `items`
  std::string sentence;
};
std::vector<WarmingFault> warming_faults(const std::deque<WarmingOptions>& items);

}  // namespace heatsink::policy
