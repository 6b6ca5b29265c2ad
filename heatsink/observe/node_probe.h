// SPDX-License-Identifier: Apache-2.0
// Asks a node of a cluster for the masters and for its own load.
#pragma once

#include <optional>
#include <string>

#include "heatsink/net/address.h"
#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/node_load.h"
#include "heatsink/topology/announced_map.h"

namespace heatsink::observe {

struct NodeProbeOptions {
  Login login;
  net::HostPort address;  // its host stands in where the node does not know its own
  bool tls = false;
  bool counts = true;  // asks for the load once a second (INFO commandstats)
};

// Has a connection of its own. One thread.
class NodeProbe {
 public:
  struct MapAnswer {
    bool is_cluster = false;
    topology::AnnouncedMap masters;  // of the cluster, with slots
    std::string why;  // why the node could not be asked (it may be in a cluster anyway); or ""
  };

  explicit NodeProbe(NodeProbeOptions options);

  ServerProtocol& protocol() { return pipeline_; }
  bool is_up() const { return pipeline_.is_up(); }
  // Why the connection is not up; "" if it is, or before the first attempt.
  const std::string& trouble() const { return pipeline_.trouble(); }
  void tick(TimePoint now);
  void end() { pipeline_.end(); }

  // Sends CLUSTER SHARDS, or CLUSTER SLOTS to servers before Redis 7.0. Does nothing while the
  // connection is down or an answer is missing.
  void ask_map(TimePoint now);
  // Returns each answer once.
  std::optional<MapAnswer> take_map();
  // Nothing: not known yet, or the node refuses.
  std::optional<NodeLoad> load() const { return is_up() ? meter_.load() : std::nullopt; }
  // The node answered the question for its load with an error; the load stays unknown.
  bool refuses_load() const { return refuses_load_; }

 private:
  void ask_slots(TimePoint now);
  void ask_load(TimePoint now);
  void take(const Result<resp::Value>& reply, std::optional<topology::AnnouncedMap> map);

  NodeProbeOptions options_;
  CommandPipeline pipeline_;
  LoadMeter meter_;
  bool asking_map_ = false;
  bool asking_load_ = false;
  bool refuses_load_ = false;
  TimePoint next_load_at_{};
  std::optional<MapAnswer> map_answer_;
};

}  // namespace heatsink::observe
