// SPDX-License-Identifier: Apache-2.0
// Makes the report on the load of nodes and slots from the workers' counts, what the nodes say, and
// the hot keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/metric.h"
#include "heatsink/report/report.h"
#include "heatsink/topology/topology.h"

namespace heatsink::proxy {

struct SharedState;

// At most this many slots of each node are listed.
inline constexpr std::size_t kSlotsOfNodeMax = 16;

// Pure. `names`: of the nodes by NodeIndex. `rates`: for each slot; empty: not known yet. `usage`:
// what the nodes say; null: nothing yet. `report`: its keys are assigned
// to slots by their names, unless those are redacted or incomplete.
report::SlotsReport slots_seen(const topology::SlotMap& map, const std::vector<float>& rates,
                               const topology::SlotUsage* usage,
                               const std::vector<std::string>& names, const report::Report& report);

// The same from what the proxy knows now; nothing without a cluster. While it is called from time
// to time, the keeper asks the nodes for their load.
std::optional<report::SlotsReport> slots_seen(SharedState& shared, const report::Report& report);

// The load of the nodes; nothing without a cluster.
void append_slot_samples(MetricSamples& samples, const report::Report& report);
MetricRows slot_metric_rows();

}  // namespace heatsink::proxy
