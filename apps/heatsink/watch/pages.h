// SPDX-License-Identifier: Apache-2.0
// The pages of `heatsink watch`: those of a proxy, of the sum of all instances, or of one of them.
#pragma once

#include <vector>

#include "apps/heatsink/watch/poller.h"
#include "heatsink/base/metric.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::app {

// `poller` must outlive the server. With ?instance=NAME a page is that of this instance, which is
// asked meanwhile; only pages that change nothing are passed on.
std::vector<httpd::Route> watch_routes(const Poller& poller);

MetricSamples watch_samples(const Poller& poller);
MetricRows watch_metric_rows();

}  // namespace heatsink::app
