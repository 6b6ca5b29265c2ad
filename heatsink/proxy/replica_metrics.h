// SPDX-License-Identifier: Apache-2.0
// Shows the replicas that hot keys may be read from: their age, and the reads sent to them.
#pragma once

#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"
#include "heatsink/report/replicas_report.h"
#include "heatsink/topology/replica_directory.h"

namespace heatsink::proxy {

// `lag`: the shortest of all rules; `confirmed_at`: others have confirmed the master then.
std::vector<report::ReplicaReport> replicas_seen(const topology::ReplicaDirectory& directory,
                                                 Nanos lag, TimePoint confirmed_at, TimePoint now);

// The labels are the replicas' addresses: at most ReplicaMonitor::kServersMax.
void append_replica_samples(MetricSamples& samples,
                            const std::vector<report::ReplicaReport>& replicas);
MetricRows replica_rows();

}  // namespace heatsink::proxy
