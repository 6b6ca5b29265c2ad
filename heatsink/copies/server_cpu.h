// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of the servers by their INFO, and estimates how much of it they are spared.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/redis/server_use.h"

namespace heatsink::copies {

// What servers have to do for one proxy and its clients: totals that only grow.
struct ServerEffort {
  std::uint64_t sent = 0;          // commands of clients
  std::uint64_t client_reads = 0;  // reads from clients' sockets
  std::uint64_t client_turns = 0;  // turns of the workers that made them
  std::uint64_t executed = 0;      // commands sent to servers, the proxy's own among them
  std::uint64_t writes = 0;        // system calls that sent them
  std::uint64_t fills = 0;         // of `executed`, each admit::kCommandsPerFill
  std::uint64_t ends = 0;          // changed keys that the servers have told

  friend ServerEffort operator-(const ServerEffort& now, const ServerEffort& then);
  // A server that wakes up finds several clients ready where a worker does. To read from each
  // further one, and to answer it, costs it this part of a wake-up (docs/decisions/0137).
  static constexpr double kFurtherClient = 0.34;

  // Seconds of a server's CPU by these prices: for what was sent to it, and for what clients would
  // have sent to it without the proxy. Each turn that read from clients would have been a wake-up
  // of the server.
  double seconds(const admit::ServerPrices& prices) const;
  double seconds_without_proxy(const admit::ServerPrices& prices) const;
};

// The CPU time used is what INFO says (used_cpu_user, used_cpu_sys). The CPU time spared cannot be
// measured: a server does not know what it was not asked. It is
//
//   scale * (seconds_without_proxy - seconds)
//
// where `scale` makes the prices those of this server: by least squares,
//
//   used * ours = scale * seconds + idle * elapsed
//
// `ours` is the part of all commands of the servers (total_commands_processed) that came from this
// proxy. Much work says more than little: what was learned before there were copies stays for
// minutes. So the prices only say how dear a wake-up, a fill or a push is compared with a command.
// Measured (tests/integration/server_cpu_test.py): off by 1 to 13 points for lone commands on a
// calm machine. A server that seldom wakes up finds its data out of the caches, so each wake-up is
// dearer there, and `scale` with it: on a busy machine the figure is too high (0137).
//
// One thread; no clock.
class ServerCpu {
 public:
  using Node = std::uint16_t;

  // A server's answer; `effort` at the same time. Another process (a restart) begins anew.
  void answered(Node node, const redis::ServerUse& use, const ServerEffort& effort, TimePoint now,
                Nanos window);

  struct Figure {
    double cores = 0;         // seconds of CPU time per second, of all servers together
    double spared_cores = 0;  // negative: the proxy costs the servers more than it spares
    // The load taken off the servers' CPUs: at most 1.
    double taken_off() const {
      return cores + spared_cores > 0 ? spared_cores / (cores + spared_cores) : 0;
    }
  };
  // Over about the last window. Nothing: problem() says why.
  std::optional<Figure> figure(TimePoint now, Nanos window) const;
  // How many times admit::ServerPrices a command takes this server: the choice of what gets a copy
  // works with the same.
  admit::Scale scale() const { return scale_.scale(); }
  // Before the first answer: another process has measured this.
  void believe(double scale);
  // "" if figure() has one.
  std::string problem(TimePoint now, Nanos window) const;

 private:
  struct Sample {
    TimePoint at;
    redis::ServerUse use;
    ServerEffort effort;
  };
  using Samples = std::deque<Sample>;  // the first one is about a window old
  bool is_late(const Samples& samples, TimePoint now, Nanos window) const;

  std::map<Node, Samples> nodes_;
  void learn(const Sample& before, const Sample& now);

  // A server's timers take about .3 % of a core.
  static constexpr admit::PriceScale::Belief kBelief{.scale = admit::kServerScaleBelieved,
                                                     .idle = 0.003,
                                                     .work_s = 0.003,
                                                     .idle_s = 10,
                                                     .kept = 0.995};
  admit::PriceScale scale_{kBelief};
  std::string refusal_;  // the last answer of any node, if it was an error
};

}  // namespace heatsink::copies
