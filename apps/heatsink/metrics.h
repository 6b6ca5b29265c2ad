// SPDX-License-Identifier: Apache-2.0
// Collects the metrics of `heatsink proxy`, and prints the reference page of all metrics.
#pragma once

#include <string>

#include "apps/heatsink/live_configuration.h"
#include "heatsink/alerts/alerts.h"
#include "heatsink/base/metric.h"
#include "heatsink/history/history.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// The proxy's metrics, those of its configuration, its history and its alerts (null: there are
// none), the kernel's counters of the process, and the build.
MetricSamples all_samples(const proxy::Proxy& proxy, const LiveConfiguration& live,
                          const history::Writer* history, const alerts::Alerter* alerts);

// The rows of the proxy, the library and the rate limiters; some of them twice.
MetricRows all_metric_rows();

// docs/reference/metrics.md, printed by `heatsink config metrics`.
std::string metrics_page();

}  // namespace heatsink::app
