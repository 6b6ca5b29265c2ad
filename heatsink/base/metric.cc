// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/metric.h"

#include <algorithm>
#include <string>

#include "heatsink/base/reference_table.h"

namespace heatsink {

const char* to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      break;
  }
  return "histogram";
}

std::string to_markdown(MetricRows rows) {
  const auto name = [](const MetricRow* row) { return row->name; };
  std::stable_sort(rows.begin(), rows.end(), [&](const MetricRow* one, const MetricRow* other) {
    return name(one) < name(other);
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [&](const MetricRow* one, const MetricRow* other) {
                           return name(one) == name(other);
                         }),
             rows.end());
  ReferenceTable table({"metric", "type", "labels", "meaning"});
  for (const MetricRow* row : rows)
    table.add(row->name, {to_string(row->kind), std::string(row->labels)}, row->help);
  return table.text();
}

}  // namespace heatsink
