// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <unordered_map>
#include <vector>

#include "heatsink/base/printable.h"

namespace heatsink::admin {
namespace {

prometheus::MetricFamily new_family(const MetricRow& row) {
  const bool counts = row.kind == MetricKind::kCounter;
  return {std::string(row.name),
          std::string(row.help),
          counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
          {}};
}

prometheus::ClientMetric to_metric(const MetricSample& sample) {
  prometheus::ClientMetric metric;
  if (!sample.label.empty()) metric.label = {{sample.label, printable(sample.label_value)}};
  (sample.row->kind == MetricKind::kCounter ? metric.counter.value : metric.gauge.value) =
      sample.value;
  return metric;
}

}  // namespace

std::string metrics_text(const MetricSamples& samples) {
  std::vector<prometheus::MetricFamily> families;
  std::unordered_map<const MetricRow*, std::size_t> places;
  for (const MetricSample& sample : samples) {
    const auto [place, is_new] = places.emplace(sample.row, families.size());
    if (is_new) families.push_back(new_family(*sample.row));
    families[place->second].metric.push_back(to_metric(sample));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace heatsink::admin
