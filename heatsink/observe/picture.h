// SPDX-License-Identifier: Apache-2.0
// Joins what is seen of all nodes of a deployment into one list of rows.
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
  bool is_watched = false;       // by a source
  std::optional<NodeLoad> load;  // nothing: not known
  std::string trouble;           // why it is not up; ""
};

struct Picture {
  std::vector<Observation> sources;  // in the order they were asked for
  bool is_cluster = false;
  std::vector<NodeSeen> nodes;  // of a cluster
};

struct NodeObservation {
  std::string node;
  Observation seen;
};

// What one source saw of several nodes, as if it were one: rows by rate, at most kRowsMax, each
// with its node; sums of rates; shares of the sum; slots likewise. A verdict stays that of its
// node, because it is a node that gets too much. The state is the liveliest, the progress that of
// all work together; notes name their nodes; there is trouble when there is with each. `upstream`:
// the cluster, as shown. REQUIRES at least one. O(rows).
Observation join_nodes(std::vector<NodeObservation> all, std::string upstream);

}  // namespace heatsink::observe
