// SPDX-License-Identifier: Apache-2.0
// Joins the observations of all nodes of a deployment into one list of rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/node_load.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct NodeSeen {
  std::string name;  // "10.0.0.7:6379"
  bool is_up = false;
  bool is_watched = false;       // at least one source observes it
  std::optional<NodeLoad> load;  // nothing: not known
  std::string trouble;           // why it is not up; or ""
};

struct Picture {
  std::vector<Observation> sources;  // in the order of the plans
  bool is_cluster = false;
  std::vector<NodeSeen> nodes;  // of a cluster
};

struct NodeObservation {
  std::string node;
  Observation seen;
};

// Joins the observations of one source on several nodes: rows by rate, at most kRowsMax, each with
// its node; rates added up; shares of the sum; slots in the same way. A verdict stays that of its
// node, because the load of a single node is the problem. The state is the best of all; the
// progress is that of the total work; notes name their nodes; there is trouble only if each node
// has some. `upstream`: the cluster, as displayed. REQUIRES at least one. O(rows).
Observation join_nodes(std::vector<NodeObservation> all, std::string upstream);

}  // namespace heatsink::observe
