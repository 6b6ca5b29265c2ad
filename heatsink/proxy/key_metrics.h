// SPDX-License-Identifier: Apache-2.0
// The busiest hot keys as metrics: what the server's own keyspace_hits, OBJECT FREQ and MONITOR no
// longer tell of them.
#pragma once

#include <cstddef>

#include "heatsink/base/metric.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/report.h"

namespace heatsink::proxy {

// Of at most `keys_max` hot or write-hot keys, in the report's order (busiest first) and with the
// names that it shows. A name too long to be shown whole is left out: two such could look the same,
// and a scraper refuses a series that is there twice.
void append_key_samples(MetricSamples& samples, const report::Report& report, std::size_t keys_max);

MetricRows key_metric_rows();

}  // namespace heatsink::proxy
