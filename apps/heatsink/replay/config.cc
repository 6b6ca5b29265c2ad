// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "apps/heatsink/replay/report.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

std::string comments(const std::vector<replay::Reason>& reasons) {
  std::string out;
  for (const replay::Reason& reason : reasons)
    out += fmt::format("# {} {}: {}\n", reason.question, reason.answer, reason.why);
  return out;
}

// A shorter recording misses keys that other minutes read, so it limits nothing.
constexpr Nanos kLimitsFrom = std::chrono::minutes(10);

// cache.maximum-size and cache.maximum-bytes by default.
constexpr std::size_t kCopiesByDefault = 65'536;
constexpr Bytes kBytesByDefault = mebibytes(64);

// A limit below the default spares little memory, and costs hits when the traffic grows.
std::string limit_lines(Nanos recorded, std::size_t copies, Bytes bytes) {
  if (recorded < kLimitsFrom) {
    return fmt::format(
        "  # maximum-size and maximum-bytes keep their defaults "
        "({}, {}): the traffic is of less than 10 minutes.\n",
        kCopiesByDefault, format_bytes(kBytesByDefault));
  }
  return fmt::format(
      "  # Limits are never written below the defaults ({}, {}).\n"
      "  maximum-size: {}\n  maximum-bytes: {}\n",
      kCopiesByDefault, format_bytes(kBytesByDefault), std::max(copies, kCopiesByDefault),
      format_bytes(std::max(bytes, kBytesByDefault)));
}

std::string cache_lines(bool caching, const char* admission, const std::string& limits,
                        Nanos expire) {
  if (!caching) return "cache:\n  enabled: false\n";
  return fmt::format("cache:\n  enabled: true\n  admission: {}\n{}  expire-after-write: {}\n",
                     admission, limits, format_duration(expire));
}

// Copies of hot keys only.
std::string thresholds_config(const ReplayReport& report) {
  const replay::Recommendation& advice = report.recommendation;
  const replay::Setting& setting = advice.chosen.setting;
  const std::size_t entries = setting.capacity.entries_max;
  return comments(advice.reasons) +
         fmt::format("detection:\n  window: {}\n  hot-qps: {:g}\n  top-n: {}\n  burst: {}\n",
                     format_duration(setting.window), setting.hot_qps, entries,
                     format_share({replay::burst_part(setting)})) +
         cache_lines(advice.caching, "hot",
                     limit_lines(report.trace.duration(), entries,
                                 std::min(setting.capacity.bytes_max, advice.cache_bytes)),
                     report.rules.expire_after_write);
}

}  // namespace

std::string report_config(const ReplayReport& report) {
  std::string out =
      fmt::format("# Recommended by 'heatsink replay' for {}.\n", printable(report.source));
  if (!report.budget.caching) out += "# " + no_caching_sentence(report) + "\n";
  if (report.has_thresholds()) return out + thresholds_config(report);
  const replay::Budget& budget = report.budget;
  return out + comments(budget.reasons) +
         cache_lines(budget.caching, "pays",
                     limit_lines(report.trace.duration(), budget.chosen.capacity.entries_max,
                                 budget.cache_bytes),
                     report.rules.expire_after_write);
}

}  // namespace heatsink::app
