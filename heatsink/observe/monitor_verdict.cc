// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "heatsink/detect/detect.h"

namespace heatsink::observe {
namespace {

bool is_hot(const report::KeyReport& key) {
  return key.verdict.temperature == detect::Temperature::kHot ||
         key.verdict.temperature == detect::Temperature::kWriteHot;
}

// The highest rate of a key that is not proven hot. REQUIRES an absent_max.
double highest_of_others(const ServerCount& count, const report::Report& report) {
  double most = *report.absent_max;
  for (const report::KeyReport& key : report.keys) {
    if (!is_hot(key)) most = std::max(most, at_most(key, report));
  }
  // No key has more than everything that the server executed.
  return std::min(most, std::max(*count.executed, report.requests_rate));
}

// How long "not hot" needs to be watched. The server's mean since its start has all bursts
// and all pauses of its traffic. If it is of traffic like this, and leaves no key as much again as
// makes it hot, these seconds were no pause. Nor were they on a server that has executed so little
// in all its life that no key was hot over kSteadySecondsMin.
double seconds_needed(double most, const ServerCount& count, double hot) {
  const double executed = *count.executed;
  const bool is_like_ever = count.lifetime && executed >= detect::kAutomaticHotRate &&
                            *count.lifetime >= executed / 2 &&
                            most + std::max(*count.lifetime - executed, 0.0) < hot;
  const bool is_unused = count.ever && *count.ever < hot * kSteadySecondsMin;
  return is_like_ever || is_unused ? kSteadySecondsMin : kWatchedSecondsMin;
}

}  // namespace

void bound_by_executed(std::span<const WindowCount> lines, double watched_seconds,
                       std::optional<double> executed, report::Report& report) {
  report.unseen_rate.reset();
  if (!executed) return report.absent_max.reset();
  const RateBounds seen = rate_bounds(lines, watched_seconds);
  report.unseen_rate = std::max(*executed - seen.low, 0.0);
  // A lower threshold than that of the windows, where these heard more than the mean.
  report.hot =
      std::max(detect::kAutomaticHotPart *
                   std::min(*executed, report.requests_rate > 0 ? report.requests_rate : *executed),
               detect::kAutomaticHotRate);
  report.warm = detect::kAutomaticWarm * report.hot;
  if (report.absent_max) *report.absent_max += *report.unseen_rate;
}

double at_most(const report::KeyReport& key, const report::Report& report) {
  return std::max(key.verdict.rate_high, key.verdict.rate + report.unseen_rate.value_or(0));
}

bool may_be_pause(double watched_seconds, const ServerCount& count, const report::Report& report) {
  if (!count.executed || !report.absent_max) return false;
  const double most = highest_of_others(count, report);
  return watched_seconds < seconds_needed(most, count, report.hot);
}

std::string what_is_undecided(std::span<const WindowCount> lines, double watched_seconds,
                              const ServerCount& count, const report::Report& report) {
  if (!report.keys.empty() && is_hot(report.keys.front())) return "";
  if (!count.executed || !report.absent_max)
    return fmt::format(
        "no key is proven hot in {} windows of MONITOR, and INFO, "
        "which would show what the server executed between them, tells nothing",
        lines.size());
  const double most = highest_of_others(count, report);
  const double needed = seconds_needed(most, count, report.hot);
  if (most < report.hot && watched_seconds >= needed) return "";
  if (most < report.hot)
    return fmt::format(
        "no key is hot in the first {:.0f} s, which may be a pause of the traffic: "
        "watch for {:.0f} s",
        watched_seconds, needed);
  double seconds = 0, heard = 0;
  for (const WindowCount& window : lines) {
    seconds += window.seconds;
    heard += window.low;
  }
  if (heard == 0)
    return fmt::format(
        "the {} windows of MONITOR heard no command, but the server executed {:.0f}/s: "
        "its traffic comes in bursts",
        lines.size(), *count.executed);
  return fmt::format(
      "no key is proven hot in {} windows of MONITOR ({:.1f} s); "
      "one may have up to {:.0f}/s, and hot begins at {:.0f}/s",
      lines.size(), seconds, most, report.hot);
}

}  // namespace heatsink::observe
