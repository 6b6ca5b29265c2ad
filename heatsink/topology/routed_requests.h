// SPDX-License-Identifier: Apache-2.0
// Sends commands of one key to the node of a cluster that owns it, and follows the nodes'
// redirects.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/cluster_directory.h"
#include "heatsink/topology/key_servers.h"
#include "heatsink/topology/redirect.h"

namespace heatsink::topology {

// A state machine without sockets; one thread. It repeats only what a node has refused. A lost
// connection ends its requests, because it is unknown whether they were executed.
class RoutedRequests {
 public:
  using Words = KeyServers::Words;
  using Done = KeyServers::Done;

  // The nodes' connections; tests implement it, too.
  class Nodes {
   public:
    // Sends the command to the node, after ASKING if `is_asking`. `done` is called exactly once,
    // now or later.
    virtual void send(NodeIndex node, const Words& words, bool is_asking, Done done) = 0;
    // A node has refused a command of this key, because its slot has moved or is being moved.
    virtual void on_redirected(std::string_view key) = 0;

   protected:
    ~Nodes() = default;
  };

  static constexpr std::size_t kRedirectsMax = 5;  // in a row, without a pause

  // Both outlive it. A command that no node accepts ends with an error after `patience`.
  RoutedRequests(ClusterDirectory& directory, Nodes& nodes, Nanos patience)
      : directory_(directory), nodes_(nodes), patience_(patience) {}

  // `done` is called exactly once, now or later.
  void ask(Words words, Done done, TimePoint now);
  // Sends again what waits for the map or for the end of a move. Call it every 50 ms or so.
  void tick(TimePoint now);
  // Waiting requests end with this error, and so do those that a node refuses from now on.
  void close(const std::string& reason);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Request {
    Words words;
    Done done;
    TimePoint asked_at;
    std::size_t redirects = 0;
    std::string refusal;  // why it waits
  };
  using SharedRequest = std::shared_ptr<Request>;

  static std::string_view key_of(const Request& request) { return (*request.words)[1]; }
  void send_to_owner(const SharedRequest& request);
  void send(const SharedRequest& request, NodeIndex node, bool is_asking);
  void on_reply(const SharedRequest& request, NodeIndex node, Result<resp::Value> reply);
  void redirect(const SharedRequest& request, NodeIndex node, const Redirect& to,
                const std::string& refusal);
  void wait(const SharedRequest& request, const std::string& refusal);

  ClusterDirectory& directory_;
  Nodes& nodes_;
  const Nanos patience_;
  std::deque<SharedRequest> waiting_;
  std::string closed_;  // "": it is open
};

}  // namespace heatsink::topology
