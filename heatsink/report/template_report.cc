// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/template_report.h"

#include <algorithm>
#include <cstdint>

namespace heatsink::report {

std::optional<TemplatesReport> templates_report(const detect::Summary& summary, double lost_max) {
  const double seconds = summary.seconds();
  if (!summary.templates || !(seconds > 0)) return std::nullopt;
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  TemplatesReport out;
  out.list.reserve(summary.templates->list.size());
  double sum_low = 0, sum_high = 0;
  for (const detect::KeyCount& each : summary.templates->list) {
    TemplateReport& row = out.list.emplace_back();
    row.name = each.key;
    row.name_truncated = each.key_truncated;
    row.db = each.db;
    row.rate = rate(each.likely());
    row.rate_low = rate(each.low);
    row.rate_high = rate(each.high) + lost_max / seconds;
    row.share = summary.requests == 0 ? 0 : row.rate / rate(summary.requests);
    row.reads_rate = rate(each.reads);
    row.writes_rate = rate(each.writes);
    row.hits_rate = rate(each.hits);
    sum_low += row.rate_low;
    sum_high += rate(each.high);
  }
  const double all = rate(summary.requests);
  out.rest_low = std::max(all - sum_high, 0.0);
  out.rest_high = std::max(all - sum_low, 0.0) + lost_max / seconds;
  return out;
}

}  // namespace heatsink::report
