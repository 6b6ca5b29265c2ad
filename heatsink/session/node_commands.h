// SPDX-License-Identifier: Apache-2.0
// Runs HEATSINK NODES, which lists the nodes of a cluster, and HEATSINK NODE <address> <command>,
// which runs a command about one of them: INFO, CONFIG, SLOWLOG, CLIENT, ... would otherwise reach
// any node.
#pragma once

#include <memory>
#include <string_view>

#include "heatsink/command/known_commands.h"
#include "heatsink/command/request.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/session/step.h"
#include "heatsink/topology/topology.h"

namespace heatsink::proxy {

// Has no state: made for one command. The worker's thread.
class NodeCommands {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    // Of the cluster behind the proxy; null: there is one server.
    virtual std::shared_ptr<const topology::SlotMap> slot_map() const = 0;
    virtual Step reply(std::string_view wire) = 0;
    virtual Step reply_error(std::string_view text) = 0;
    // Sends it on a connection of the client's own, which leads to Waited::redirected_to.
    virtual Step forward_to_node(Request& request) = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  NodeCommands(const WorkerParts& parts, const KnownCommands& commands, Client& client)
      : parts_(parts), commands_(commands), client_(client) {}

  static bool asks(const Request& request);
  Step run(Request& request);  // REQUIRES asks()

 private:
  Step list(const topology::SlotMap& map);
  Step run_at_node(Request& request, const topology::SlotMap& map);
  redis::UpstreamAddress* node_at(std::string_view address, const topology::SlotMap& map) const;

  const WorkerParts& parts_;
  const KnownCommands& commands_;
  Client& client_;
};

}  // namespace heatsink::proxy
