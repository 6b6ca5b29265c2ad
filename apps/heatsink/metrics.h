// SPDX-License-Identifier: Apache-2.0
// The metrics of `heatsink proxy`, and the reference page of all that there are.
#pragma once

#include <string>

#include "heatsink/base/metric.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// The proxy's own, what the kernel counts of the process, and which build it is.
MetricSamples all_samples(const proxy::Proxy& proxy);

// docs/reference/metrics.md: `heatsink config metrics`.
std::string metrics_page();

}  // namespace heatsink::app
