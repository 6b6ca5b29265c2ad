// SPDX-License-Identifier: Apache-2.0
// Measures the load that the proxy takes off the servers: in commands, and in their CPU time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heatsink/admit/admit.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/keeper_listener.h"
#include "heatsink/copies/load_window.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/server_cpu.h"
#include "heatsink/redis/redis.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// Adds up the counters of the keeper, the workers and the proxy's own connections. Those of other
// threads may be a moment old.
//
// The keeper's thread. No clock, no socket.
class OffloadMeter {
 public:
  // Both outlive it. `counters`: the keeper's; it keeps Count::kOwnCommands current.
  OffloadMeter(NodeState& shared, Counters& counters) : shared_(shared), counters_(counters) {}
  // The workers, which outlive it. Call it before note().
  void serve(std::span<KeeperListener* const> workers) { workers_ = workers; }

  // Call it several times per window.
  void note(TimePoint now);
  // The last window, until `now`.
  LoadWindow::Span of_window(TimePoint now);

  // A server has told its CPU time, or that it does not.
  void answered(cache::ProofIndex server, const redis::ServerUse& use, TimePoint now);
  // The servers' CPU time over about the last window; nothing: it is not known.
  std::optional<ServerCpu::Figure> server_cpu(TimePoint now) const {
    return server_cpu_.figure(now, shared_.options().window);
  }
  // How many times the built-in prices a command takes this server. Before the first answer: what
  // another process has measured, by believe().
  admit::Scale server_scale() const { return server_cpu_.scale(); }
  void believe(double server_scale) { server_cpu_.believe(server_scale); }

  void add_to(report::Report& report, TimePoint now);

 private:
  CommandLoad load() const;
  ServerEffort effort() const;

  NodeState& shared_;
  Counters& counters_;
  std::span<KeeperListener* const> workers_;
  LoadWindow loads_;
  ServerCpu server_cpu_;
};

}  // namespace heatsink::copies
