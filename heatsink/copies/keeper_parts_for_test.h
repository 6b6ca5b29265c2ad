// SPDX-License-Identifier: Apache-2.0
// The parts of a keeper without its thread: on a loop that never runs, with no connection begun.
#pragma once

#include <string>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/keeper_report.h"

namespace heatsink::copies {

// Takes what the parts say, and answers nothing.
class SilentOwner final : public Filler::Listener,
                          public Auditor::Listener,
                          public Warming::Owner,
                          public FollowedServers::Owner {
 public:
  void deliver(std::size_t, std::shared_ptr<const FillAnswer>) override {}
  void release(const BarrierRequest&) override {}
  void learn(const redis::ServerFacts&) override {}
  void rights_changed() override {}
  void filled(const FillRequest&, FillOutcome, const std::string&) override {}
  void changed(const cache::Entry&) override {}
  void proof_state_changed(const std::string&) override {}
  void stale_read(const AuditedHit&, Nanos, TimePoint) override {}
  void load(FillRequest) override {}
  void send_loads() override {}
  void note_warmed(std::vector<detect::Change>, TimePoint) override {}
  bool is_hot_by_rate(KeyHash) const override { return false; }
  std::string coherence() const override { return "up"; }
  void server_moved() override {}
  void map_changed() override {}
};

struct KeeperPartsForTest {
  explicit KeeperPartsForTest(const policy::ProxyOptions& options = {},
                              policy::KeyDisplay shown = {},
                              const std::string& url = "redis://127.0.0.1:7001")
      : shared(options, *net::parse_redis_url(url), 1, std::move(shown)) {}

  NodeState shared;
  Counters counters;
  net::EventLoop loop;
  SilentOwner owner;
  EventLog events{"no key is hot"};
  Filler filler{shared, counters, owner};
  Auditor auditor{shared, counters, owner};
  FollowedServers servers{shared, loop, filler, auditor, owner};
  Warming warming{shared, loop, owner};
  HotKeys hot_keys{shared};
  CopyAdmission admission{shared, counters, warming.warmer(), at(0)};
  HottestLimits limits{shared, events};
  OffloadMeter offload{shared, counters};
  KeeperReport report{
      {shared, counters, hot_keys, admission, warming, servers, limits, events, offload}, at(0)};
};

}  // namespace heatsink::copies
