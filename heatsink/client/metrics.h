// SPDX-License-Identifier: Apache-2.0
// The statistics of a Client as metrics, by the names that the proxy has for the same things.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "heatsink/base/metric.h"
#include "heatsink/client/stats.h"

namespace heatsink::client {

// A count is a row: its metric, and where it is.
struct CountRow {
  std::uint64_t Counts::*count;
  MetricRow metric;
};
std::span<const CountRow> count_rows();  // one for each

MetricRows metric_rows();  // of all metrics, for the reference page

// In the text format that Prometheus scrapes (version 0.0.4). No key is named.
std::string metrics_text(const Stats& stats);

}  // namespace heatsink::client
