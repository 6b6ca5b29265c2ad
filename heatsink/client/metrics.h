// SPDX-License-Identifier: Apache-2.0
// The statistics of a Client as metrics, with the proxy's names for the same quantities.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "heatsink/base/metric.h"
#include "heatsink/client/stats.h"

namespace heatsink::client {

// A row per count: its metric, and its member of Counts.
struct CountRow {
  std::uint64_t Counts::*count;
  MetricRow metric;
};
std::span<const CountRow> count_rows();  // one row per member of Counts

MetricRows metric_rows();  // of all metrics, for the reference page

// In the text format of Prometheus (version 0.0.4). It contains no key.
std::string metrics_text(const Stats& stats);

}  // namespace heatsink::client
