// SPDX-License-Identifier: Apache-2.0
// Looks up the addresses of the nodes of a cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/observe/server_connection.h"

namespace heatsink::observe {

// Resolves a node that the cluster announces; may block on a name server. The resolver calls it on
// a detached thread, so it must own what it needs and allow calls from several threads at once.
using ResolveNode = std::function<Result<ServerAddress>(const net::HostPort&)>;

// A slow name server must not delay the picture, so each unknown node is looked up on a thread of
// its own; known nodes are not looked up again. A look-up that never ends keeps its thread and is
// not repeated. One thread.
class NodeResolver {
 public:
  static constexpr Nanos kTryAgain = std::chrono::seconds(5);
  // a look-up that takes longer is reported as trouble
  static constexpr Nanos kSlow = std::chrono::seconds(2);

  struct Found {
    const ServerAddress* server = nullptr;  // valid until keep_only() drops the node
    std::string trouble;  // why there is no server; "" while the name is looked up
  };

  explicit NodeResolver(ResolveNode resolve) : resolve_(std::move(resolve)) {}

  Found find(const std::string& node, const net::HostPort& address, TimePoint now);
  void keep_only(const std::set<std::string>& nodes);

 private:
  struct Search;
  struct Node {
    std::optional<ServerAddress> server;
    std::string trouble;
    TimePoint tried_at{};
    std::shared_ptr<Search> search;  // in progress
  };
  void begin(Node& known, const net::HostPort& address) const;

  ResolveNode resolve_;
  std::map<std::string, Node> nodes_;
};

}  // namespace heatsink::observe
