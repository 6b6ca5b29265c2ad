// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/heatsink/replay/report.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {

std::string report_config(const ReplayReport& report) {
  const replay::Recommendation& advice = report.recommendation;
  const replay::Setting& setting = advice.chosen.setting;
  std::string out =
      fmt::format("# Recommended by 'heatsink replay' for {}.\n", printable(report.source));
  if (!advice.caching) out += "# " + no_caching_sentence(report) + "\n";
  for (const replay::Reason& reason : advice.reasons)
    out += fmt::format("# {} {}: {}\n", reason.question, reason.answer, reason.why);
  const std::size_t entries = std::min<std::size_t>(setting.capacity.entries_max, 4096);
  out += fmt::format(
      "detection:\n  window: {}\n  hot-qps: {:g}\n  warm-qps: {:g}\n  top-n: {}\n"
      "  burst: {}\ncache:\n  enabled: {}\n",
      format_duration(setting.window), setting.hot_qps, setting.hot_qps / 4, entries,
      format_share({replay::burst_part(setting)}), advice.caching);
  if (!advice.caching) return out;
  return out + fmt::format("  maximum-size: {}\n  maximum-bytes: {}\n  expire-after-write: {}\n",
                           entries,
                           format_bytes(std::min(setting.capacity.bytes_max, advice.cache_bytes)),
                           format_duration(report.rules.expire_after_write));
}

}  // namespace heatsink::app
