// SPDX-License-Identifier: Apache-2.0
// Holds the connections to one server or to the nodes of its cluster, and follows their redirects.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/distributed/function_caller.h"
#include "heatsink/distributed/server.h"
#include "heatsink/topology/address_translation.h"

namespace heatsink::distributed {

// One server: a connection, and the calls on it.
struct ServerNode {
  ServerNode(net::EventLoop& loop, net::RedisUrl url, net::TlsContext tls,
             const ServerOptions& options);
  // Uses only the user, the password and the database of `login`. `followed` outlives it.
  ServerNode(net::EventLoop& loop, redis::UpstreamAddress& followed, const net::RedisUrl& login,
             const ServerOptions& options);

  const std::unique_ptr<redis::UpstreamAddress> own_address;  // null: it follows another one's
  redis::UpstreamAddress& address;
  redis::Pipeline pipeline;
  FunctionCaller functions;
  redis::ServerConnection link;
  bool is_lost = false;  // reported by lost(), and given no slot since
};

// Belongs to the loop's thread. Learns slots only from redirects, so a server that is not in a
// cluster costs nothing.
class ServerNodes {
 public:
  // `followed`: where the first node is, if somebody else finds it (Sentinels, replicas). It
  // outlives the nodes. Null: it is at the address of the URL.
  ServerNodes(net::EventLoop& loop, net::RedisUrl first, net::TlsContext tls,
              const ServerOptions& options, redis::UpstreamAddress* followed = nullptr);

  void connect() { first_->link.connect(); }

  // Sends a command, after ASKING if `is_asking`; passes the reply on exactly once, now or later.
  // False: nobody waits for the reply any more; nothing was sent, and nothing will be passed on.
  using Send = std::function<bool(ServerNode&, bool is_asking, redis::Pipeline::Done)>;
  // Sends a command to the node of its key, and again as its redirects say. `done` is called at
  // most once: with the reply, which may be an error, or with the reason why there is none. Other
  // nodes are asked for the slots of a node that does not answer.
  void ask(std::string key, Send send, redis::Pipeline::Done done);

  void tick();
  void flush();
  void disconnect(const std::string& reason);
  std::uint64_t loads() const;
  std::uint64_t redirects() const { return redirects_.load(std::memory_order_relaxed); }

 private:
  struct Request;
  bool send(const std::shared_ptr<Request>& request, ServerNode& node, bool is_asking);
  void on_reply(const std::shared_ptr<Request>& request, ServerNode& node,
                Result<resp::Value> reply);
  bool redirect(const std::shared_ptr<Request>& request, const ServerNode& told_by,
                const resp::Value& reply);
  ServerNode& of(std::string_view key);
  ServerNode* node_at(net::HostPort named, const ServerNode& told_by);
  void lost(ServerNode& node);
  ServerNode& someone();

  net::EventLoop& loop_;
  const net::TlsContext tls_;
  const ServerOptions options_;
  const topology::AddressTranslation translation_;
  std::unique_ptr<ServerNode> first_;
  std::unordered_map<std::string, std::unique_ptr<ServerNode>> others_;  // by address
  std::unordered_map<std::uint16_t, ServerNode*> slots_;
  std::uint64_t loads_of_lost_ = 0;
  std::atomic<std::uint64_t> redirects_{0};  // MOVED and ASK followed; any thread reads it
};

}  // namespace heatsink::distributed
