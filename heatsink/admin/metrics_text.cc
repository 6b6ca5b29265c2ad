// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/printable.h"

namespace heatsink::admin {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

prometheus::MetricFamily new_family(const MetricRow& row) {
  return {std::string(row.name), std::string(row.help), type_of(row.kind), {}};
}

prometheus::ClientMetric::Histogram to_histogram(const MetricSample& sample) {
  prometheus::ClientMetric::Histogram out;
  out.sample_sum = sample.value;
  for (const MetricBucket& bucket : sample.buckets) {
    out.sample_count = bucket.count;  // the last bucket counts all
    out.bucket.push_back({bucket.count, bucket.up_to});
  }
  return out;
}

prometheus::ClientMetric to_metric(const MetricSample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, printable(value)});
  switch (sample.row->kind) {
    case MetricKind::kCounter:
      metric.counter.value = sample.value;
      break;
    case MetricKind::kGauge:
      metric.gauge.value = sample.value;
      break;
    case MetricKind::kHistogram:
      metric.histogram = to_histogram(sample);
      break;
  }
  return metric;
}

}  // namespace

std::string metrics_text(const MetricSamples& samples) {
  std::vector<prometheus::MetricFamily> families;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const MetricSample& sample : samples) {
    const auto [place, is_new] = places.emplace(sample.row->name, families.size());
    if (is_new) families.push_back(new_family(*sample.row));
    families[place->second].metric.push_back(to_metric(sample));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace heatsink::admin
