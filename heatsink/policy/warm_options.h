// SPDX-License-Identifier: Apache-2.0
// What is to be warm at which time of day: an item of `warming:`.
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

// One of `key`, `file` and `pattern`.
struct WarmingOptions {
  std::string key, file, pattern;
  std::int64_t keys_max = report::WarmPattern::kKeysMax;  // of the pattern
  Nanos search_again{0};                                  // 0: once, when the window opens
  std::int64_t db = 0;
  std::string from, until, days, zone = "local";

  void describe(OptionSet& set);

  // Reads the file. Of a pattern: none, for they are not known yet.
  Result<std::vector<report::WarmKey>> keys() const;
  report::WarmPattern names() const;  // REQUIRES a pattern
  Result<WarmWindow> window() const { return WarmWindow::parse({from, until, days, zone}); }
};

// What is wrong with an item, with what to do about it. Reads the files that are named.
struct WarmingFault {
  std::size_t item;  // its place
  std::string sentence;
};
std::vector<WarmingFault> warming_faults(const std::deque<WarmingOptions>& items);

}  // namespace heatsink::policy
