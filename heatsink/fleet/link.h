// SPDX-License-Identifier: Apache-2.0
// Connects one instance of a fleet with the server: a Member on an event loop.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heatsink/detect/summary.h"
#include "heatsink/distributed/server_nodes.h"
#include "heatsink/fleet/member.h"
#include "heatsink/fleet/port.h"
#include "heatsink/net/net.h"

namespace heatsink::fleet {

struct LinkOptions {
  MemberOptions member;
  // In a cluster, of any node. Its database is not used: all instances meet in database 0.
  net::RedisUrl url;
  net::TlsContext tls;
  // Where the server is, if somebody else finds it (Sentinels, replicas); it outlives the link.
  redis::UpstreamAddress* followed = nullptr;
  distributed::ServerOptions server;  // its times and `translate`; the rest is not used
};

// The loop's thread. Has connections of its own, one to each node that it needs, so nothing else
// waits for it. Must live until the loop has ended.
class Link final : private Port {
 public:
  // The counts of this instance now; called on the loop, for a report or a look for changes.
  using Counted = std::function<std::vector<detect::Summary>()>;
  // Called on the loop after each new list.
  using OnList = std::function<void()>;

  Link(net::EventLoop& loop, const LinkOptions& options, Counted counted, OnList on_list = {});
  // Tells the fleet that this instance leaves, if the connection takes that at once.
  ~Link();

  void begin();
  // Logs in with these from now on.
  void set_credentials(const std::string& user, const std::string& password);

  const Member& member() const { return member_; }

 private:
  void ask(std::vector<std::string> words, Done done) override;
  void note_lists();
  void turn();
  void arm();
  void flush_soon();
  void log_problem();

  net::EventLoop& loop_;
  LinkOptions options_;
  const Counted counted_;
  const OnList on_list_;
  std::shared_ptr<distributed::ServerNodes> nodes_;
  Member member_;
  net::TimerId turn_timer_ = 0, tick_timer_ = 0;
  TimePoint armed_for_{};
  std::uint64_t lists_ = 0;
  bool flushes_ = false;
  bool in_turn_ = false;
  std::string logged_;
};

}  // namespace heatsink::fleet
