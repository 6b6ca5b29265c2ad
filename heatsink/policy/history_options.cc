// SPDX-License-Identifier: Apache-2.0
// Lists the options of the file that keeps what was hot.
#include <chrono>

#include "heatsink/policy/option_bounds.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

void ProxyOptions::describe_history(OptionSet& set) {
  const auto in_ns = [](std::chrono::hours time) {
    return static_cast<double>(Nanos(time).count());
  };
  OptionRow file{"history.file", &history_file,
                 "SQLite file for what was hot: columns of time, and events. "
                 "heatsink history and the page read it, "
                 "also from before a restart (docs/guides/history.md). Empty: none. "
                 "One proxy per file. Names of keys are in it as privacy.redact-keys says."};
  OptionRow size{"history.maximum-size", &history_size,
                 "Size of history.file. Above it, the oldest parts are removed. Its log (-wal) "
                 "takes some megabytes more.",
                 static_cast<double>(mebibytes(1).count),
                 static_cast<double>(Bytes{1ULL << 40}.count)};
  OptionRow age{"history.maximum-age", &history_age,
                "How long history.file keeps what was hot. "
                "Seconds are kept for an hour, steps of 10 s for 2 days, minutes for 14 days, "
                "steps of 10 minutes for 60 days, hours and events for this time.",
                in_ns(std::chrono::hours(1)), in_ns(std::chrono::hours(10 * 365 * 24))};
  for (OptionRow* const row : {&file, &size, &age}) {
    row->needs_restart = true;
    set.add(std::move(*row));
  }
}

}  // namespace heatsink::policy
