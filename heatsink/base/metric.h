// SPDX-License-Identifier: Apache-2.0
// Metrics as rows beside the code that counts them; a reading is a list of samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink {

enum class MetricKind { kCounter, kGauge, kHistogram };

// One per metric, static, never freed. `name` as Prometheus wants it ("heatsink_hits_total"), unit
// last; `help` is never empty.
// `labels`: the names of its labels, "rule, outcome".
struct MetricRow {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
  std::string_view labels = "";
};
using MetricRows = std::vector<const MetricRow*>;

// Name and value, e.g. {"reason", "fence"}. Of bounded number.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// How many of the observed values were at most `up_to`; those of smaller bounds are among them.
struct MetricBucket {
  double up_to;
  std::uint64_t count;
};

struct MetricSample {
  const MetricRow* row;
  double value;  // of a histogram the sum of what was observed
  MetricLabels labels = {};
  std::vector<MetricBucket> buckets = {};  // of a histogram, rising, the last one infinite
};

using MetricSamples = std::vector<MetricSample>;

// "counter", "gauge", "histogram".
const char* to_string(MetricKind kind);

// The rows as a table of a reference page, by name, each name once.
std::string to_markdown(MetricRows rows);

}  // namespace heatsink
