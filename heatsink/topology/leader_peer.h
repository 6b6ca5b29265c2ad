// SPDX-License-Identifier: Apache-2.0
// Asks one Sentinel or server the same questions again and again, on a connection of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/leader_resolver.h"

namespace heatsink::topology {

struct LeaderPeerOptions {
  redis::Credentials credentials;
  bool tls = false;
  std::function<net::TlsContext()> context;  // with `tls`; asked before each attempt to connect
  redis::ServerConnectionOptions connection;
  std::string name = "heatsink-watch";  // as CLIENT LIST shows it
};

// The loop's thread. It connects by itself, and again after a loss. One round of questions is under
// way at a time, so a peer that does not answer costs no more memory.
class LeaderPeer {
 public:
  // The replies in the order of the questions, or why there are none. `asked_at`: the questions
  // were sent then or later. The peer must not be destroyed in this call.
  using Answered = std::function<void(const Result<std::vector<resp::Value>>&, TimePoint asked_at)>;
  using Question = std::vector<std::string>;
  // A later reply ends the connection.
  static constexpr Nanos kAnswerWithin = std::chrono::seconds(1);

  // All references must outlive it. `use` as ServerConnection has it.
  LeaderPeer(net::EventLoop& loop, LeaderResolver& resolver, const net::HostPort& address,
             LeaderPeerOptions options, const std::string& use);
  ~LeaderPeer();
  LeaderPeer(const LeaderPeer&) = delete;

  // Asks, unless an earlier round is under way.
  void ask(const std::vector<Question>& questions, Answered answered);
  void tick();  // about ten times a second
  const net::HostPort& address() const { return target_; }
  const LeaderResolver::Addresses& resolved() const { return resolved_; }  // empty: not yet

 private:
  struct Round;
  void resolve();
  void take(const std::shared_ptr<Round>& round, Result<resp::Value> reply);

  net::EventLoop& loop_;
  LeaderResolver& resolver_;
  const net::HostPort target_;
  const LeaderPeerOptions options_;
  redis::UpstreamAddress address_;
  redis::Pipeline pipeline_;
  redis::ServerConnection connection_;
  LeaderResolver::Addresses resolved_;
  std::string problem_;  // of its name
  TimePoint resolved_at_{};
  bool is_connecting_ = false;
  std::shared_ptr<Round> round_;  // null: none under way
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heatsink::topology
