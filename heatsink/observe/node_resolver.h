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

// How to resolve a node that a cluster announces; may block while its name is resolved. Called on a
// thread of its own that nobody waits for: it must own what it needs, and be fit for several
// threads at once.
using ResolveNode = std::function<Result<ServerAddress>(const net::HostPort&)>;

// A name server that hangs would stop the picture, so names are looked up beside it: one thread per
// node that is not known yet, none for one that is. A look-up that never ends keeps its thread; it
// is not begun again. One thread.
class NodeResolver {
 public:
  static constexpr Nanos kTryAgain = std::chrono::seconds(5);
  static constexpr Nanos kSlow = std::chrono::seconds(2);  // from then on it is trouble

  struct Found {
    const ServerAddress* server = nullptr;  // valid until keep_only() drops the node
    std::string trouble;  // why there is none; "" with none: it is being looked up
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
    std::shared_ptr<Search> search;  // under way
  };
  void begin(Node& known, const net::HostPort& address) const;

  ResolveNode resolve_;
  std::map<std::string, Node> nodes_;
};

}  // namespace heatsink::observe
