// SPDX-License-Identifier: Apache-2.0
// Metrics as rows beside the code that counts them; a reading is a list of samples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink {

enum class MetricKind { kCounter, kGauge };

// One per metric, static, never freed. `name` as Prometheus wants it ("heatsink_hits_total"), unit
// last; `help` is never empty.
struct MetricRow {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
};

// Labels must be of bounded number: never a key's name.
struct MetricSample {
  const MetricRow* row;
  double value;
  std::string label;  // "" : no label; else e.g. "reason"
  std::string label_value;
};

using MetricSamples = std::vector<MetricSample>;

}  // namespace heatsink
