// SPDX-License-Identifier: Apache-2.0
// Keeps the map of slots current: decides when which node is asked for it, and what is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"
#include "heatsink/topology/cluster_directory.h"

namespace heatsink::topology {

// A state machine without sockets; one thread. One question is under way at a time. It asks at the
// start, every kEvery with jitter, and when a worker has seen that the map is old, at most once per
// kPause. Nodes are redirected by the servers themselves, so an old map costs time, not
// correctness.
//
// What is believed: a node that says cluster_state:fail, or whose current epoch is lower than that
// of the map, does not replace a map that there is. It may be cut off from the others. Of two
// owners of a slot, that with the higher config epoch (ClusterDirectory::publish()); then the other
// one is asked next.
class ClusterWatch {
 public:
  // Implemented by ClusterConnections, and by tests.
  class Asker {
   public:
    // Asks for CLUSTER INFO, CLUSTER NODES, and CLUSTER SHARDS or (`old_form`) CLUSTER SLOTS, in
    // this order. Ends with one call of answered() or failed(), not from within this call.
    virtual void ask(NodeIndex node, bool old_form) = 0;

   protected:
    ~Asker() = default;
  };
  static constexpr Nanos kPause = Millis(20);
  static constexpr Nanos kEvery = std::chrono::seconds(20);

  // `directory` and `asker` outlive it. `seeds`: of the URL. `random`: the seed for the jitter.
  ClusterWatch(ClusterDirectory& directory, Asker& asker, const std::vector<net::HostPort>& seeds,
               std::uint64_t random);

  // Call it every kPause or so.
  void tick(TimePoint now);
  // The map may be old; `hint` may know a newer one.
  void refresh_soon(std::optional<NodeIndex> hint);

  struct Answer {
    resp::Value info;   // of CLUSTER INFO
    resp::Value nodes;  // of CLUSTER NODES; an error: config epochs are not known
    resp::Value map;    // of CLUSTER SHARDS or SLOTS
  };
  void answered(NodeIndex node, const Answer& answer);
  void failed(NodeIndex node, const std::string& why);

  // "", or a sentence why there is no map, or no newer one.
  const std::string& problem() const { return problem_; }
  // The node that was asked last has refused a question, because its user lacks a right.
  bool lacks_a_right() const { return lacks_a_right_; }

 private:
  NodeIndex next_node();
  void refuse(NodeIndex node, const std::string& why);
  Nanos pause_to_next();

  ClusterDirectory& directory_;
  Asker& asker_;
  std::vector<NodeIndex> seeds_;
  std::uint64_t random_;
  std::optional<NodeIndex> again_;     // it does not know the new form of the question
  std::optional<NodeIndex> doubtful_;  // whose slots another node gave to somebody else
  std::optional<NodeIndex> silent_;    // the last that failed
  std::optional<NodeIndex> hint_;
  std::size_t turn_ = 0;  // of the rotation over all nodes
  bool wanted_ = true;
  bool asks_ = false;
  bool old_form_ = false;    // CLUSTER SHARDS is unknown to the node that was asked last
  std::size_t refused_ = 0;  // in a row
  bool lacks_a_right_ = false;
  TimePoint asked_at_{};
  TimePoint due_at_{};
  std::string problem_ = "no node of the cluster has answered yet";
};

}  // namespace heatsink::topology
