// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/warm_options.h"

#include <fstream>
#include <utility>

namespace heatsink::policy {

void WarmingOptions::describe(OptionSet& set) {
  set.add({.name = "key", .target = &key, .help = "Exact name of the key."});
  set.add({.name = "file",
           .target = &file,
           .help = "Instead of key: a file with up to 1000 key names, one per line. "
                   "It is read at the start."});
  set.add({.name = "pattern",
           .target = &pattern,
           .help = "Instead of key: a glob such as product:*. "
                   "The proxy looks for its keys with SCAN when the window opens."});
  set.add({"limit", &keys_max, "Maximum number of keys of a pattern.", 1,
           report::WarmPattern::kKeysMax});
  set.add(
      {"search-again", &search_again,
       "How often the proxy looks for a pattern's keys again while the window is open. 0: never.",
       0, std::chrono::nanoseconds(std::chrono::hours(24)).count()});
  set.add({"db", &db, "Database of the keys.", 0, 1'000'000});
  set.add({.name = "from",
           .target = &from,
           .help = "Time of day at which the keys become hot, such as \"19:55\"."});
  set.add(
      {.name = "until",
       .target = &until,
       .help =
           "Time of day at which the window ends. If it is not later than from: on the next day."});
  set.add(
      {.name = "days",
       .target = &days,
       .help = "Days on which the window begins, such as mon-fri or sat,sun. Empty: every day."});
  set.add({.name = "zone",
           .target = &zone,
           .help = "Time zone: local (of this machine, or of the environment's TZ), "
                   "UTC, or an offset such as +02:00."});
}

Result<std::vector<report::WarmKey>> WarmingOptions::keys() const {
  const auto its_db = static_cast<std::uint32_t>(db);
  if (!key.empty() + !file.empty() + !pattern.empty() != 1)
    return invalid_argument("write exactly one of key, file and pattern");
  if (!pattern.empty()) {
    if (std::string fault = report::pattern_fault(pattern); !fault.empty())
      return invalid_argument(std::move(fault));
    return std::vector<report::WarmKey>{};
  }
  if (!key.empty()) return std::vector<report::WarmKey>{{key, its_db}};
  std::ifstream lines(file);
  if (!lines)
    return invalid_argument("file " + file +
                            " cannot be read: check that it exists and its permissions");
  std::vector<report::WarmKey> out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) out.push_back({line, its_db});
    if (out.size() > report::WarmOrder::kKeysMax) {
      return invalid_argument("file " + file + " has more than " +
                              std::to_string(report::WarmOrder::kKeysMax) + " keys");
    }
  }
  // An empty file is more likely a mistake in its path or its creation than an intention.
  if (out.empty())
    return invalid_argument("file " + file + " has no keys: write one key on each line");
  return out;
}

report::WarmPattern WarmingOptions::names() const {
  report::WarmPattern out;
  out.glob = pattern;
  out.db = static_cast<std::uint32_t>(db);
  out.keys_max = static_cast<std::size_t>(keys_max);
  return out;
}

std::vector<WarmingFault> warming_faults(const std::deque<WarmingOptions>& items) {
  std::vector<WarmingFault> faults;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto keys = items[i].keys(); !keys.ok()) faults.push_back({i, keys.error().message});
    if (const auto window = items[i].window(); !window.ok())
      faults.push_back({i, window.error().message});
  }
  return faults;
}

}  // namespace heatsink::policy
