// SPDX-License-Identifier: Apache-2.0
// Writes the metrics of rate limiters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/distributed/rate_limiter.h"

namespace heatsink {
struct MetricRow;
}

namespace heatsink::distributed {

// One page for all limiters of a program, by name, in the text format of Prometheus (version
// 0.0.4). It contains no keys. Two limiters with the same name in one process cannot be
// distinguished: give each its own page, or share one limiter.
std::string metrics_text(std::span<const RateLimiter* const> limiters);

std::vector<const MetricRow*> limiter_metric_rows();  // for the reference page

}  // namespace heatsink::distributed
