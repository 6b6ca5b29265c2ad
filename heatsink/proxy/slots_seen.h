// SPDX-License-Identifier: Apache-2.0
// Makes the report on the load of nodes and slots from the workers' counts and the hot keys.
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

// Pure. `names`: of the nodes by NodeIndex. `rates`: for each slot. `report`: its keys are assigned
// to slots by their names, unless those are redacted or incomplete.
report::SlotsReport slots_seen(const topology::SlotMap& map, const std::vector<float>& rates,
                               const std::vector<std::string>& names, const report::Report& report);

// The same from what the proxy knows now; nothing without a cluster.
std::optional<report::SlotsReport> slots_seen(SharedState& shared, const report::Report& report);

// heatsink_node_commands_per_second and heatsink_node_imbalance; nothing without a cluster.
void append_slot_samples(MetricSamples& samples, const report::Report& report);
MetricRows slot_metric_rows();

}  // namespace heatsink::proxy
