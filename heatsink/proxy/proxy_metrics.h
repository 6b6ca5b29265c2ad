// SPDX-License-Identifier: Apache-2.0
// Collects all metrics of a proxy for GET /metrics.
#pragma once

#include <span>

#include "heatsink/base/metric.h"

namespace heatsink::copies {
class CopyKeeper;
}  // namespace heatsink::copies

namespace heatsink::report {
struct Report;
}  // namespace heatsink::report

namespace heatsink::proxy {

class Worker;
struct SharedState;

// Thread-safe. `report` is that of Proxy::report(). Waits up to a second if the keeper is busy.
MetricSamples samples_of(const SharedState& shared, copies::CopyKeeper& keeper,
                         const report::Report& report, std::span<const Worker* const> workers);

// The rows of all possible samples, for the reference page.
MetricRows metric_rows();

}  // namespace heatsink::proxy
