// SPDX-License-Identifier: Apache-2.0
// Exports the busiest hot keys as metrics: local copies hide their load from the server's own
// keyspace_hits, OBJECT FREQ and MONITOR.
#pragma once

#include <cstddef>

#include "heatsink/base/metric.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/report.h"

namespace heatsink::proxy {

// Adds samples for at most `keys_max` hot or write-hot keys, in the report's order (busiest first)
// and with its shown names. Names too long to be shown whole are left out: two of them could look
// the same, and a scraper refuses duplicate series.
void append_key_samples(MetricSamples& samples, const report::Report& report, std::size_t keys_max);

MetricRows key_metric_rows();

}  // namespace heatsink::proxy
