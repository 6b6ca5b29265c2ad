// SPDX-License-Identifier: Apache-2.0
// The metrics of rate limiters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heatsink/distributed/rate_limiter.h"

namespace heatsink {
struct MetricRow;
}

namespace heatsink::distributed {

// One page for all limiters of a program, each under its name, in the text format of Prometheus
// (version 0.0.4). It names no key. Two limiters with the same name in one process cannot be told
// apart: give each its own page, or share one limiter.
std::string metrics_text(std::span<const RateLimiter* const> limiters);

std::vector<const MetricRow*> limiter_metric_rows();  // for the reference page

}  // namespace heatsink::distributed
