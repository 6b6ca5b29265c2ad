// SPDX-License-Identifier: Apache-2.0
// Makes rates of the counts of templates ("user:*"), and of the accesses in no listed template.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/detect/summary.h"

namespace heatsink::report {

// Rates are accesses per second over the window of the summary.
struct TemplateReport {
  std::string name;  // a pattern, key_template.h; its beginning if `name_truncated`
  bool name_truncated = false;
  std::uint32_t db = 0;
  // Between the bounds; of reads, writes and hits only those that were counted.
  double rate = 0, rate_low = 0, rate_high = 0;
  double share = 0;  // of all accesses, 0 .. 1
  double reads_rate = 0, writes_rate = 0, hits_rate = 0;
};

struct TemplatesReport {
  std::vector<TemplateReport> list;  // busiest first
  // All accesses in no listed template, tracked keys or not.
  double rest_low = 0, rest_high = 0;
};

// Nothing, if the summary does not count templates. `lost_max`: accesses in its window that it may
// have missed; each upper bound includes all of them. Pure. O(templates).
std::optional<TemplatesReport> templates_report(const detect::Summary& summary, double lost_max);

}  // namespace heatsink::report
