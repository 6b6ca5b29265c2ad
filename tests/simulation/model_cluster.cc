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

bool is_no_node(const ModelCall& call) {
  if (call.server.cluster != ModelCluster::kNone) return false;
  call.error("ERR This instance has cluster support disabled");
  return true;
}

// The node to which the slots have moved has raised the epoch.
void cluster_info(const ModelCall& call) {
  if (is_no_node(call)) return;
  const bool is_down = call.server.cluster == ModelCluster::kDown;
  const bool is_first = call.server.cluster == ModelCluster::kOwner &&
                        call.server.cluster_port == ModelState::kFirstPort;
  call.bulk(std::string("cluster_enabled:1\r\ncluster_state:") + (is_down ? "fail" : "ok") +
            "\r\ncluster_current_epoch:" + (is_first || is_down ? "1" : "2") + "\r\n");
}

// [[0, 16383, [host, port]]]
void cluster_slots(const ModelCall& call) {
  if (is_no_node(call)) return;
  resp::append_array_header(call.out, 1);
  resp::append_array_header(call.out, 3);
  call.integer(0);
  call.integer(resp::kSlots - 1);
  resp::append_array_header(call.out, 2);
  call.bulk("127.0.0.1");
  call.integer(call.server.cluster == ModelCluster::kMoved ? ModelState::kOtherPort
                                                           : call.server.cluster_port);
}

constexpr std::array kClusterCommands = {ModelCommand{"cluster|nodes", cluster_nodes},
                                         ModelCommand{"cluster|info", cluster_info},
                                         ModelCommand{"cluster|slots", cluster_slots}};

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
