// SPDX-License-Identifier: Apache-2.0
// The model server as a node of a cluster.
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

void cluster_nodes(const ModelCall& call) {
  const ModelCluster cluster = call.server.cluster;
  if (cluster == ModelCluster::kNone)
    return call.error("ERR This instance has cluster support disabled");
  const std::string own =
      "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 127.0.0.1:6379@16379 myself,master - 0 0 1 "
      "connected";
  call.bulk(own + (cluster == ModelCluster::kMoved ? "\n" : " 0-16383\n"));
}

constexpr std::array kClusterCommands = {ModelCommand{"cluster|nodes", cluster_nodes}};

}  // namespace

std::span<const ModelCommand> model_cluster_commands() { return kClusterCommands; }

std::string ModelState::refused_by_cluster(const ModelCommand& command, ModelArgs args) const {
  if (cluster != ModelCluster::kMoved && cluster != ModelCluster::kDown) return "";
  std::vector<resp::KeyRef> found;
  resp::find_keys(*command.facts, args, found);
  if (found.empty()) return "";
  return cluster == ModelCluster::kMoved ? "MOVED 7000 127.0.0.1:6378"
                                         : "CLUSTERDOWN The cluster is down";
}

}  // namespace heatsink::simulation
