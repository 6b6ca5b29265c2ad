// SPDX-License-Identifier: Apache-2.0
// Defines metrics as rows beside the code that counts them; a reading is a list of samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink {

enum class MetricKind { kCounter, kGauge, kHistogram };

// One per metric, static, never freed. `name` in Prometheus style ("heatsink_hits_total"), unit
// last; `help` is never empty. `labels`: the names of its labels, "rule, outcome".
struct MetricRow {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
  std::string_view labels = "";
};
using MetricRows = std::vector<const MetricRow*>;

// Names and values, e.g. {"reason", "fence"}. The number of values must be bounded.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// The number of observed values <= `up_to`; includes the buckets of smaller bounds.
struct MetricBucket {
  double up_to;
  std::uint64_t count;
};

struct MetricSample {
  const MetricRow* row;
  double value;  // for a histogram, the sum of the observed values
  MetricLabels labels = {};
  std::vector<MetricBucket> buckets = {};  // for a histogram: ascending, the last one infinite
};

using MetricSamples = std::vector<MetricSample>;

// "counter", "gauge", "histogram".
const char* to_string(MetricKind kind);

// The rows as a table for a reference page, sorted by name, each name once.
std::string to_markdown(MetricRows rows);

}  // namespace heatsink
