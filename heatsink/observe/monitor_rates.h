// SPDX-License-Identifier: Apache-2.0
// Estimates rates of keys and of templates from the windows of MONITOR.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/observe/rows.h"
#include "heatsink/report/template_report.h"

namespace heatsink::observe {

// The windows of which the rates are estimated: for each its counts, and its length in seconds.
// `watched_seconds`: from the start of the first to the end of the last; see rate_bounds().
struct MonitorWindows {
  std::vector<detect::Summary> counts;
  std::vector<double> seconds;
  double watched_seconds = 0;
  std::vector<double> lines{};  // commands of each window; empty: not known
  // Commands per second in all that time, by the server's own count; nothing: not known.
  std::optional<double> executed{};
};
inline constexpr std::size_t kBusyWindowsMin = 5;

struct MonitorRates {
  std::vector<KeyRow> keys;  // at most kRowsMax
  // Nothing without windows, or if they do not count templates. Of reads and writes only those that
  // were counted.
  std::optional<report::TemplatesReport> templates;
};

// With the server's own count, a key's rate is its part of the commands in the windows times that
// count (Cochran's ratio estimator with a known total): bursts make the commands in the windows
// vary, but not that part. It needs kBusyWindowsMin windows with traffic.
// O(windows * (keys + templates)).
MonitorRates rates_of(const MonitorWindows& windows);

// The bound for a key that is not among `rows`: assumes one key that, in each window, had as many
// accesses as any other key may have there. Nothing: no bound is known.
std::optional<double> absent_rate(const MonitorWindows& windows,
                                  std::span<const report::KeyReport> rows);

}  // namespace heatsink::observe
