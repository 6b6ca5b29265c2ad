// SPDX-License-Identifier: Apache-2.0
// Holds the connections of a Server to its nodes, and the nodes of the slots.
#pragma once

#include <cstdint>
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
  // Of `login` only the user, the password and the database are used. `followed` outlives it.
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
  ServerNode& of(std::string_view key);
  // The node that "MOVED 3999 10.0.0.7:6381" or "ASK ..." from `told_by` names; connects to it if
  // it is new. Null: no valid address, or too many nodes.
  ServerNode* named_by(std::string_view redirect, const ServerNode& told_by);
  void has_slot_of(std::string_view key, ServerNode& node);
  // The node did not answer: other nodes are asked for its slots from now on.
  void lost(ServerNode& node);
  // The name of the first node may lead elsewhere now: replaces a connection that was made earlier.
  void renew_first(TimePoint if_before) { first_->link.renew(if_before); }

  void tick();
  void flush();
  void disconnect(const std::string& reason);
  std::uint64_t loads() const;

 private:
  ServerNode& someone();

  net::EventLoop& loop_;
  const net::TlsContext tls_;
  const ServerOptions options_;
  const topology::AddressTranslation translation_;
  std::unique_ptr<ServerNode> first_;
  std::unordered_map<std::string, std::unique_ptr<ServerNode>> others_;  // by address
  std::unordered_map<std::uint16_t, ServerNode*> slots_;
  std::uint64_t loads_of_lost_ = 0;
};

}  // namespace heatsink::distributed
