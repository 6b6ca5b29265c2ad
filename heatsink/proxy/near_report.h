// SPDX-License-Identifier: Apache-2.0
// Adds to a report what clients keep in caches of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "heatsink/base/metric.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/report/report.h"

namespace heatsink::proxy {

class NearFigures;
class Worker;

// Names in a report, at most.
inline constexpr std::size_t kNearNamesMax = 64;

// All of these: any thread but a worker's.
// Of all workers: the totals, the names that most clients keep, and for each key of the report how
// many keep it, if it is among the names that a worker lists.
void add_near_caches(report::Report& report, std::span<const NearFigures* const> workers,
                     const copies::NodeState& shared);
void add_near_caches(report::Report& report, std::span<const std::unique_ptr<Worker>> workers,
                     const copies::NodeState& shared);
// The same, for the report on one key that was asked for by `name`. The workers are asked for its
// exact number, which takes them up to 0.1 s each.
void add_near_caches_of(const std::string& name, report::Report& report,
                        std::span<const std::unique_ptr<Worker>> workers,
                        const copies::NodeState& shared);

void append_near_samples(MetricSamples& samples, std::span<const NearFigures* const> workers);
MetricRows near_rows();

}  // namespace heatsink::proxy
