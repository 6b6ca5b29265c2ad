// SPDX-License-Identifier: Apache-2.0
// Adds the load of a cluster's nodes and slots to a moment of the history.
#pragma once

#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/heat/moment.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// A slot with a smaller part of the cluster's commands is not named: 16 times the mean. Under even
// load the busiest ones are others each second, and their names would push out those of keys.
inline constexpr double kNamedSlotShare = 0.001;

// The busiest nodes and slots by `counts`, which counts a part of the commands: the figures are
// estimates. `names`: of the nodes by NodeIndex. Adds nothing before there is a count. At most 50
// us.
void add_cluster(heat::Moment& moment, const topology::SlotMap& map,
                 const std::vector<std::string>& names, const topology::SlotCounts& counts,
                 TimePoint now);

// The same from what the proxy knows now; nothing without a cluster.
void add_cluster(heat::Moment& moment, topology::ClusterDirectory& cluster,
                 const topology::SlotCounts& counts, TimePoint now);

}  // namespace heatsink::copies
