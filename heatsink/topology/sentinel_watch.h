// SPDX-License-Identifier: Apache-2.0
// Follows the master that Sentinels name: asks all of them, and all servers that they name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heatsink/topology/leader_peer.h"
#include "heatsink/topology/leader_role_poll.h"
#include "heatsink/topology/leader_watch.h"
#include "heatsink/topology/sentinel_leader.h"

namespace heatsink::topology {

class SentinelWatch final : public LeaderWatch {
 public:
  static constexpr Nanos kInterval = Millis(250);  // between two questions to a Sentinel
  // Between two questions for other Sentinels and for replicas.
  static constexpr Nanos kListInterval = std::chrono::seconds(1);

  SentinelWatch(net::EventLoop& loop, LeaderWatchOptions options, ServerCredentials credentials,
                Listener& listener);
  ~SentinelWatch() override;

  void begin() override;
  void doubt() override;
  SentinelCounts counts() const override { return leader_.counts(loop_.clock()); }

 private:
  struct Sentinel {
    std::unique_ptr<LeaderPeer> peer;
    std::vector<net::HostPort> replicas;  // as it last named them
    std::vector<net::HostPort> others;
    bool is_configured = false;  // in the URL
    bool is_double = false;      // of another one
    TimePoint asked_at = TimePoint::min();
    TimePoint listed_at = TimePoint::min();
  };

  void add(const net::HostPort& address, bool is_configured);
  void turn();
  void ask(Sentinel& sentinel, TimePoint now);
  void take(const std::string& key, const Result<std::vector<resp::Value>>& replies, bool has_lists,
            TimePoint asked_at);
  void take_lists(Sentinel& sentinel, const std::vector<resp::Value>& replies);
  void follow_lists();
  void decide();
  Sentinel* find(const std::string& key);

  net::EventLoop& loop_;
  const LeaderWatchOptions options_;
  LeaderResolver resolver_;
  LeaderRolePoll poll_;
  SentinelLeader leader_;
  LeaderPublisher publisher_;
  std::vector<std::unique_ptr<Sentinel>> sentinels_;
  net::TimerId timer_ = 0;
};

}  // namespace heatsink::topology
