// SPDX-License-Identifier: Apache-2.0
// Keeps a client's subscriptions that need several nodes of a cluster: shard channels, and keyspace
// notifications, which each master sends for its own keys only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "heatsink/command/client_user.h"
#include "heatsink/resp/resp.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// What a client has subscribed to.
struct ListenedName {
  enum class Kind : std::uint8_t { kShard, kChannel, kPattern };
  Kind kind = Kind::kShard;
  std::string name;
  friend bool operator<(const ListenedName& a, const ListenedName& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  }
};

// One per client that needs it; one worker's thread. It wants names, and place() sees to it that
// the right nodes are asked for them: the owner of a shard channel's slot, or all masters. It can
// be called at any time, and must be called again after a while if it says so, because nodes and
// slots change. Each node costs one private connection, in RESP3.
class NodeListeners {
 public:
  // Implemented by Session.
  class Owner {
   public:
    // A message in RESP3, whole. `wire` is valid during the call.
    virtual void heard(const resp::Value& message, std::string_view wire) = 0;
    // A node is connected, or has confirmed or refused something: call place().
    virtual void listeners_changed() = 0;
    // The same after a pause: a node is lost, or has no slot of a name. At once it would be so
    // again.
    virtual void listener_lost() = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it. `client` and `owner` are the session. `user`: whose connections `upstreams`
  // has; null: the proxy's.
  NodeListeners(Upstreams& upstreams, std::shared_ptr<const ClientUser> user,
                topology::ClusterDirectory& cluster, Requester& client, Owner& owner,
                std::size_t bytes_max);
  ~NodeListeners();
  NodeListeners(const NodeListeners&) = delete;

  bool empty() const { return wanted_.empty(); }
  void want(const ListenedName& name) { wanted_.insert(name); }
  void forget(const ListenedName& name) { wanted_.erase(name); }
  // The connection of the client that hears kChannel and kPattern by itself, if it has one.
  void heard_at(const redis::UpstreamAddress* node) { home_ = node; }

  // Opens and closes connections, and sends what is missing. True: all nodes have confirmed all
  // names. False: call it again soon.
  bool place();
  // False: the connection to one of the nodes is not ready.
  bool reaches_all() const;
  // Nodes that have refused the login may be asked again: call it once a second.
  void forget_refusals();
  // The node's error, or why there is no connection, for a name that was then forgotten; "": none.
  std::string take_refusal() { return std::exchange(refusal_, {}); }
  // Gives all connections back.
  void close();

  // To another process. True if it can take the connections: they are not too many, and without
  // TLS.
  bool can_move() const;
  // All nodes that are connected have confirmed all names, and nothing is under way.
  bool may_release() const;  // REQUIRES can_move()
  std::vector<int> descriptors() const;
  std::vector<net::Stream> release();  // REQUIRES may_release(); in the order of descriptors()
  // A connection of another process, which hears all that client wants: place() asks the node for
  // it once more, so that no message is lost in between. False: it cannot be used.
  bool adopt(net::Stream connection);
  // Frees what ended; not from within a call of this class.
  void end_turn();

 private:
  class Listener;
  // By number: the order in which nodes are asked does not depend on where objects lie in memory.
  using Places = std::map<topology::NodeIndex, std::set<ListenedName>>;

  Places places(const topology::SlotMap& map) const;
  // All nodes have confirmed all names.
  bool is_settled(const Places& wanted) const;
  void refused(const ListenedName& name, std::string_view error);
  void lost() { owner_.listener_lost(); }

  Upstreams& upstreams_;
  const std::shared_ptr<const ClientUser> user_;
  topology::ClusterDirectory& cluster_;
  Requester& client_;
  Owner& owner_;
  const std::size_t bytes_max_;
  const redis::UpstreamAddress* home_ = nullptr;
  std::set<ListenedName> wanted_;
  std::map<topology::NodeIndex, std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Listener>> ended_;
  std::string refusal_;
};

}  // namespace heatsink::proxy
