// SPDX-License-Identifier: Apache-2.0
// The servers that a Server has connections to, and which of them has which slot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/distributed/function_caller.h"
#include "heatsink/distributed/server.h"

namespace heatsink::distributed {

// One server: a connection, and what is said on it.
struct ServerNode {
  ServerNode(net::EventLoop& loop, net::RedisUrl url, net::TlsContext tls,
             const ServerOptions& options);

  redis::UpstreamAddress address;
  redis::Pipeline pipeline;
  FunctionCaller functions;
  redis::ServerConnection link;
  bool is_lost = false;  // told of, and no slot of its own since
};

// The loop's thread. Slots are learnt from what servers say; nothing is asked for, so a server that
// is no cluster costs nothing.
class ServerNodes {
 public:
  ServerNodes(net::EventLoop& loop, net::RedisUrl first, net::TlsContext tls,
              const ServerOptions& options);

  void connect() { first_->link.connect(); }
  ServerNode& of(std::string_view key);
  // What "MOVED 3999 10.0.0.7:6381" or "ASK ..." names, as seen from `told_by`; connected to if it
  // is new. Null: no address, or one too many.
  ServerNode* named_by(std::string_view redirect, const ServerNode& told_by);
  void has_slot_of(std::string_view key, ServerNode& node);
  // It did not answer: its slots are asked of others from now on.
  void lost(ServerNode& node);
  // The first one's name may lead elsewhere: a connection made before that is made again.
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
  std::unique_ptr<ServerNode> first_;
  std::unordered_map<std::string, std::unique_ptr<ServerNode>> others_;  // by address
  std::unordered_map<std::uint16_t, ServerNode*> slots_;
  std::uint64_t loads_of_lost_ = 0;
};

}  // namespace heatsink::distributed
