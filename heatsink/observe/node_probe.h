// SPDX-License-Identifier: Apache-2.0
// Asks a node of a cluster for the masters, and for its load.
#pragma once

#include <optional>
#include <string>

#include "heatsink/net/address.h"
#include "heatsink/observe/cluster_map.h"
#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/node_load.h"

namespace heatsink::observe {

struct NodeProbeOptions {
  Login login;
  net::HostPort address;  // whose host is meant where the node does not know its own
  bool tls = false;
  bool counts = true;  // asks for its load once a second (INFO commandstats)
};

// A protocol of its own. One thread.
class NodeProbe {
 public:
  struct MapAnswer {
    bool is_cluster = false;
    ClusterMap masters;  // of a cluster
    std::string why;     // it could not be asked: then it may be one all the same; ""
  };

  explicit NodeProbe(NodeProbeOptions options);

  ServerProtocol& protocol() { return pipeline_; }
  bool is_up() const { return pipeline_.is_up(); }
  // Why it is not up; "" if it is, or nobody has tried.
  const std::string& trouble() const { return pipeline_.trouble(); }
  void tick(TimePoint now);
  void end() { pipeline_.end(); }

  // CLUSTER SHARDS, or where that is not known (before Redis 7.0) CLUSTER SLOTS; nothing is asked
  // while it is not up, or has not answered yet.
  void ask_map(TimePoint now);
  // The answer, once.
  std::optional<MapAnswer> take_map();
  // Nothing: not known yet, or not told.
  std::optional<NodeLoad> load() const { return is_up() ? meter_.load() : std::nullopt; }
  // It answered the question for its load with something else: there will be none.
  bool refuses_load() const { return refuses_load_; }

 private:
  void ask_slots(TimePoint now);
  void ask_load(TimePoint now);
  void take(const Result<resp::Value>& reply, const std::optional<ClusterMap>& map);

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
