// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

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

std::string cache_lines(bool caching, const char* admission, std::size_t copies, Bytes bytes,
                        Nanos expire) {
  if (!caching) return "cache:\n  enabled: false\n";
  return fmt::format(
      "cache:\n  enabled: true\n  admission: {}\n  maximum-size: {}\n  maximum-bytes: {}\n"
      "  expire-after-write: {}\n",
      admission, copies, format_bytes(bytes), format_duration(expire));
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
         cache_lines(advice.caching, "hot", entries,
                     std::min(setting.capacity.bytes_max, advice.cache_bytes),
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
         cache_lines(budget.caching, "pays", budget.chosen.capacity.entries_max, budget.cache_bytes,
                     report.rules.expire_after_write);
}

}  // namespace heatsink::app
