// SPDX-License-Identifier: Apache-2.0
// What rate limiters have done, as metrics.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/distributed/rate_limiter.h"

namespace heatsink {
struct MetricRow;
}

namespace heatsink::distributed {

// One page for all of a program's limiters, each by its name, in the text format that Prometheus
// scrapes (version 0.0.4). No key is named. Limiters of one name in one process are told apart by
// nobody: give them one page each, or share the limiter.
std::string metrics_text(std::span<const RateLimiter* const> limiters);

std::vector<const MetricRow*> limiter_metric_rows();  // for the reference page

}  // namespace heatsink::distributed
