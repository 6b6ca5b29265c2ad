// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_rates.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace heatsink::observe {
namespace {

// The counts of one window: of keys, or of templates.
struct Counted {
  std::span<const detect::KeyCount> list;
  std::uint64_t absent_max;
};

Counted keys_of(const detect::Summary& window) { return {window.keys, window.absent_max}; }

// All accesses of a window that does not count templates may have one of them.
Counted templates_of(const detect::Summary& window) {
  if (!window.templates) return {{}, window.requests};
  return {window.templates->list, window.templates->absent_max};
}

struct Estimate {
  RateBounds rate;
  RateBounds share;  // of all accesses
};

// `least`: what is proven without the server's count.
RateBounds of_executed(const std::vector<WindowCount>& of_lines, double executed, double least) {
  const RateBounds part = rate_bounds(of_lines, std::numeric_limits<double>::infinity());
  const double rate = std::min(part.rate, 1.0) * executed;
  return {rate, std::min(std::max(part.low * executed, least), rate), part.high * executed};
}

// Estimates what one key or template had in the windows.
class Estimator {
 public:
  template <class CountedOf>
  Estimator(const MonitorWindows& windows, CountedOf counted_of) : windows_(windows) {
    for (const detect::Summary& window : windows.counts) {
      const Counted counted = counted_of(window);
      absent_max_.push_back(static_cast<double>(counted.absent_max));
      auto& bounds = bounds_.emplace_back();
      for (const detect::KeyCount& each : counted.list)
        bounds[each.hash.value] = {static_cast<double>(each.low), static_cast<double>(each.high)};
    }
  }

  // At least and at most.
  std::pair<double, double> in_window(std::size_t window, KeyHash which) const {
    const auto at = bounds_[window].find(which.value);
    return at != bounds_[window].end() ? at->second : std::pair{0.0, absent_max_[window]};
  }

  Estimate estimate(KeyHash which) const {
    std::vector<WindowCount> seen, of_all, of_lines;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const auto [low, high] = in_window(i, which);
      seen.push_back({windows_.seconds[i], low, high});
      // A window without traffic is no evidence for a share.
      if (windows_.counts[i].requests == 0) continue;
      of_all.push_back({static_cast<double>(windows_.counts[i].requests), low, high});
      if (i < windows_.lines.size()) of_lines.push_back({windows_.lines[i], low, high});
    }
    // The share is the same ratio, with all accesses in place of seconds: if all keys slow down
    // together, it stays the same.
    RateBounds rate = rate_bounds(seen, windows_.watched_seconds);
    if (windows_.executed && of_lines.size() >= kBusyWindowsMin)
      rate = of_executed(of_lines, *windows_.executed, rate.low);
    return {rate, rate_bounds(of_all, std::numeric_limits<double>::infinity())};
  }

 private:
  const MonitorWindows& windows_;
  std::vector<boost::unordered_flat_map<std::uint64_t, std::pair<double, double>>> bounds_;
  std::vector<double> absent_max_;
};

// All accesses but those of `listed`.
RateBounds rest_of(const MonitorWindows& windows, const Estimator& templates,
                   const std::vector<detect::KeyCount>& listed) {
  std::vector<WindowCount> rest;
  for (std::size_t i = 0; i < windows.counts.size(); ++i) {
    double low = 0, high = 0;
    for (const detect::KeyCount& each : listed) {
      const auto [least, most] = templates.in_window(i, each.hash);
      low += least;
      high += most;
    }
    const auto all = static_cast<double>(windows.counts[i].requests);
    rest.push_back({windows.seconds[i], std::max(all - high, 0.0), std::max(all - low, 0.0)});
  }
  return rate_bounds(rest, windows.watched_seconds);
}

std::vector<KeyRow> key_rows(const MonitorWindows& windows, std::vector<detect::KeyCount> keys) {
  const Estimator estimator(windows, keys_of);
  std::vector<KeyRow> out;
  for (detect::KeyCount& key : keys) {
    const Estimate seen = estimator.estimate(key.hash);
    KeyRow row;
    row.count = std::move(key);
    row.rate = seen.rate;
    row.share = seen.share.rate;
    row.share_low = seen.share.low;
    out.push_back(std::move(row));
  }
  return out;
}

report::TemplatesReport template_rates(const MonitorWindows& windows,
                                       const std::vector<detect::KeyCount>& templates) {
  const Estimator estimator(windows, templates_of);
  report::TemplatesReport out;
  for (const detect::KeyCount& each : templates) {
    const Estimate seen = estimator.estimate(each.hash);
    const auto counted = static_cast<double>(std::max<std::uint64_t>(each.reads + each.writes, 1));
    report::TemplateReport& row = out.list.emplace_back();
    row.name = each.key;
    row.name_truncated = each.key_truncated;
    row.db = each.db;
    row.rate = seen.rate.rate;
    row.rate_low = seen.rate.low;
    row.rate_high = seen.rate.high;
    row.share = seen.share.rate;
    row.reads_rate = row.rate * static_cast<double>(each.reads) / counted;
    row.writes_rate = row.rate * static_cast<double>(each.writes) / counted;
  }
  std::ranges::stable_sort(out.list, std::ranges::greater{}, &report::TemplateReport::rate);
  const RateBounds rest = rest_of(windows, estimator, templates);
  out.rest_low = rest.low;
  out.rest_high = rest.high;
  return out;
}

}  // namespace

MonitorRates rates_of(const MonitorWindows& windows) {
  detect::Summary all = detect::merge(windows.counts, kRowsMax);
  MonitorRates out{key_rows(windows, std::move(all.keys)), std::nullopt};
  if (all.templates) out.templates = template_rates(windows, all.templates->list);
  return out;
}

std::optional<double> absent_rate(const MonitorWindows& windows,
                                  std::span<const report::KeyReport> rows) {
  if (windows.counts.empty()) return std::nullopt;
  std::set<std::uint64_t> listed;
  for (const report::KeyReport& row : rows) listed.insert(row.verdict.count.hash.value);
  std::vector<WindowCount> counts;
  for (std::size_t i = 0; i < windows.counts.size(); ++i) {
    std::uint64_t most = windows.counts[i].absent_max;
    for (const detect::KeyCount& key : windows.counts[i].keys) {
      if (!listed.contains(key.hash.value)) most = std::max(most, key.high);
    }
    counts.push_back({windows.seconds[i], 0, static_cast<double>(most)});
  }
  const double high = rate_bounds(counts, windows.watched_seconds).high;
  return std::isfinite(high) ? std::optional(high) : std::nullopt;
}

}  // namespace heatsink::observe
